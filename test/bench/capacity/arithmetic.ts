import { cpuOf, findWorkload, type Results } from '../results.js'

// From what one machine was measured to spend on a record, to what many machines need for many records. No I/O: the figures of a
// run go in, numbers of processes, cores and partitions come out.

/** CPU of one record in µs: a part that every record costs, and a part that a request costs, shared by its records. */
export type Cost = { perRecord: number; perRequest: number }

export type Process = 'edge' | 'integrity' | 'sink' | 'kafka' | 'postgres' | 'clickhouse'
export const processes: readonly Process[] = ['edge', 'integrity', 'sink', 'kafka', 'postgres', 'clickhouse']

/** The µs that a record costs in a process, when a request brings so many of them. */
export const costOf = ({ perRecord, perRequest }: Cost, recordsPerRequest: number): number =>
  perRecord + perRequest / recordsPerRequest

/** The cost that goes through two measured points. Where large requests turned out dearer, by chance, requests cost nothing. */
export const fitCost = (
  large: { recordsPerRequest: number; micros: number },
  small: { recordsPerRequest: number; micros: number },
): Cost => {
  const slope = (small.micros - large.micros) / (1 / small.recordsPerRequest - 1 / large.recordsPerRequest)
  const perRequest = Math.max(0, slope)
  return { perRecord: large.micros - perRequest / large.recordsPerRequest, perRequest }
}

/** What each process spends, from the largest and the smallest requests of a type. */
export const costsOf = (results: Results, type: string): Record<Process, Cost> => {
  const point = (process: Process, recordsPerRequest: number) => {
    const measured = findWorkload(results, type, recordsPerRequest)
    if (!measured) throw new Error(`the run has no requests of ${recordsPerRequest} ${type}`)
    return { recordsPerRequest, micros: cpuOf(measured, process) }
  }
  return Object.fromEntries(
    processes.map((process) => [process, fitCost(point(process, 5000), point(process, 20))]),
  ) as Record<Process, Cost>
}

/** What is taken for granted about the machines, beside what was measured. */
export const assumptions = {
  /** The share of a core that is planned to be busy. The rest is for peaks, for catching up, and for an instance that is away. */
  busyShare: 0.6,
  /** Kafka keeps each message on three brokers; a copy is taken to cost as much as the first. */
  copies: 3,
  coresOfBroker: 8,
  /** The largest machine for Postgres, whose primary cannot be spread. */
  coresOfPostgres: 32,
  coresOfClickHouse: 16,
  /** Records in one batch, each of which has one verdict. */
  recordsPerBatch: 500,
  /** What an edge spends on reading one verdict. Every edge reads all of them. */
  microsPerVerdict: 9,
  /** The share of all records that the largest organisation sends. */
  largestOrganisation: 0.25,
}
export type Assumptions = typeof assumptions

export type Need = {
  recordsPerSecond: number
  edges: number
  integrities: number
  sinks: number
  /** Of each topic of uploads: one for each integrity instance at the least, and twice that, so that they spread evenly. */
  partitions: number
  /** Lanes that the largest organisation needs, so that no one process has to decide all of it. */
  lanes: number
  brokers: number
  postgresCores: number
  clickhouseNodes: number
  /** Bytes written a second: to all brokers together, and to ClickHouse. */
  kafkaBytes: number
  clickhouseBytes: number
  /** What runs out first, and why more of it does not help; undefined where nothing does. */
  limit?: string
}

/** What so many records a second need, in requests of so many records. */
export const needOf = (
  recordsPerSecond: number,
  recordsPerRequest: number,
  costs: Readonly<Record<Process, Cost>>,
  bytes: Readonly<Record<string, number>>,
  given: Assumptions = assumptions,
): Need => {
  const { busyShare, copies } = given
  /** Busy cores of a process. */
  const busy = (process: Process) => (recordsPerSecond * costOf(costs[process], recordsPerRequest)) / 1e6
  const verdictsPerSecond = recordsPerSecond / Math.min(recordsPerRequest, given.recordsPerBatch)
  // Each edge reads every edge's verdicts: what is left of its core is for requests.
  const leftForRequests = busyShare - (verdictsPerSecond * given.microsPerVerdict) / 1e6
  const integrities = Math.max(1, Math.ceil(busy('integrity') / busyShare))
  const postgresCores = Math.max(1, Math.ceil(busy('postgres') / busyShare))
  const limit =
    leftForRequests <= 0
      ? 'verdicts: every edge reads all of them, and that alone fills its core'
      : postgresCores > given.coresOfPostgres
        ? `Postgres: one primary has ${given.coresOfPostgres} cores at the most`
        : undefined
  return {
    recordsPerSecond,
    edges: leftForRequests <= 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.ceil(busy('edge') / leftForRequests)),
    integrities,
    sinks: Math.max(1, Math.ceil(busy('sink') / busyShare)),
    partitions: Math.max(4, 2 * integrities),
    lanes: Math.max(1, Math.ceil((busy('integrity') * given.largestOrganisation) / busyShare)),
    brokers: Math.max(copies, Math.ceil((busy('kafka') * copies) / (given.coresOfBroker * busyShare))),
    postgresCores,
    clickhouseNodes: Math.max(1, Math.ceil(busy('clickhouse') / (given.coresOfClickHouse * busyShare))),
    kafkaBytes: recordsPerSecond * (bytes.kafka ?? 0) * copies,
    clickhouseBytes: recordsPerSecond * (bytes.clickhouse ?? 0),
    ...(limit === undefined ? {} : { limit }),
  }
}

/** Which of so many of each is full first as the load grows, and at how many records a second. */
export const firstToSaturate = (
  has: Need,
  recordsPerRequest: number,
  costs: Readonly<Record<Process, Cost>>,
  given: Assumptions = assumptions,
): { what: string; recordsPerSecond: number } => {
  const micros = (process: Process) => costOf(costs[process], recordsPerRequest)
  const verdicts = given.microsPerVerdict / Math.min(recordsPerRequest, given.recordsPerBatch)
  const ceilings = [
    // An edge's core is full with its share of the requests and with everybody's verdicts.
    { what: 'edges', recordsPerSecond: 1e6 / (micros('edge') / has.edges + verdicts) },
    { what: 'integrity', recordsPerSecond: (has.integrities * 1e6) / micros('integrity') },
    {
      what: 'lanes of the largest organisation',
      recordsPerSecond: (has.lanes * 1e6) / (micros('integrity') * given.largestOrganisation),
    },
    { what: 'sinks', recordsPerSecond: (has.sinks * 1e6) / micros('sink') },
    { what: 'brokers', recordsPerSecond: (has.brokers * given.coresOfBroker * 1e6) / (micros('kafka') * given.copies) },
    { what: 'Postgres', recordsPerSecond: (has.postgresCores * 1e6) / micros('postgres') },
    {
      what: 'ClickHouse',
      recordsPerSecond: (has.clickhouseNodes * given.coresOfClickHouse * 1e6) / micros('clickhouse'),
    },
  ]
  return ceilings.reduce((first, each) => (each.recordsPerSecond < first.recordsPerSecond ? each : first))
}

/** Records a second that one of each is planned for: a process with its core, Postgres and a broker with all of theirs. */
export const ceilingsOf = (
  recordsPerRequest: number,
  costs: Readonly<Record<Process, Cost>>,
  given: Assumptions = assumptions,
): { what: string; recordsPerSecond: number }[] => {
  const perSecond = (process: Process, coresOfOne: number) =>
    Math.round((coresOfOne * given.busyShare * 1e6) / costOf(costs[process], recordsPerRequest))
  return [
    { what: 'one integrity, or one lane of one organisation', recordsPerSecond: perSecond('integrity', 1) },
    { what: 'one edge', recordsPerSecond: perSecond('edge', 1) },
    { what: 'one sink', recordsPerSecond: perSecond('sink', 1) },
    { what: `one broker of ${given.coresOfBroker} cores`, recordsPerSecond: perSecond('kafka', given.coresOfBroker) },
    {
      what: `a Postgres of ${given.coresOfPostgres} cores`,
      recordsPerSecond: perSecond('postgres', given.coresOfPostgres),
    },
    {
      what: `a ClickHouse of ${given.coresOfClickHouse} cores`,
      recordsPerSecond: perSecond('clickhouse', given.coresOfClickHouse),
    },
  ].sort((a, b) => a.recordsPerSecond - b.recordsPerSecond)
}

/** How many records a second a machine with so many cores stores, everything on it, the load generator too. */
export const onOneMachine = (
  cores: number,
  recordsPerRequest: number,
  costs: Readonly<Record<Process, Cost>>,
  microsOfGenerator: number,
): number => {
  const all = processes.reduce((sum, process) => sum + costOf(costs[process], recordsPerRequest), microsOfGenerator)
  const slowest = Math.max(
    ...(['edge', 'integrity', 'sink'] as const).map((process) => costOf(costs[process], recordsPerRequest)),
  )
  return Math.min((cores * 1e6) / all, 1e6 / slowest)
}
