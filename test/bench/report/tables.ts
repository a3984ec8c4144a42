import {
  cpuOf,
  findInteractions,
  findWorkload,
  type Growth,
  type Measured,
  naivePrice,
  type Results,
  services,
} from '../results.js'
import { count, goalsOf } from './goals.js'

const parts = ['kafka', 'postgres', 'clickhouse'] as const

export type Table = { title: string; head: string[]; rows: string[][] }

/** Everything that a run found, as tables of which each fits a terminal of 80 columns. */
export const tablesOf = (results: Results): Table[] => {
  const { floors, workloads, halfLoad, flood, growth } = results
  const naive = naivePrice(results) ?? Number.NaN
  const loads = [...workloads, halfLoad, ...pacedLoads(results), ...(flood ? [flood] : []), ...growthLoads(growth)]
  return [
    inAHurry(results),
    {
      title: 'The floors: bare fastify and kafkajs on the same broker',
      head: ['', 'records/s', 'p50 ms', 'p99 ms', 'µs CPU'],
      rows: [
        ...[...floors.naive, floors.floor, floors.interaction].map((each) => [
          each.name,
          count(each.answeredPerSecond),
          ms(each.took.p50),
          ms(each.took.p99),
          micros(cpuOf(each, 'floors')),
        ]),
        ['bare round trip through Kafka', '', ms(floors.roundTrip.p50), ms(floors.roundTrip.p99), ''],
      ],
    },
    {
      title: 'Weir: records a second, ms of a request, ms until visible (p95), cores of others',
      head: ['', 'answered', 'stored', 'p50', 'p95', 'p99', 'fresh', 'others'],
      rows: loads.map((each) => [
        each.name,
        count(each.answeredPerSecond),
        count(each.storedPerSecond),
        ms(each.took.p50),
        ms(each.took.p95),
        ms(each.took.p99),
        each.freshness ? ms(each.freshness.p95) : '–',
        each.othersCores.toFixed(1),
      ]),
    },
    {
      title: `CPU µs a record in Weir; naive: ${micros(naive)}; same: naive with the same requests`,
      head: ['', ...services, 'sum', '× naive', '× same'],
      rows: loads.map((each) => [
        each.name,
        ...services.map((name) => micros(cpuOf(each, name))),
        micros(cpuOf(each, ...services)),
        // An interaction is a request of its own: a record of a large upload is no measure for it.
        each.type === 'interactions' ? '–' : (cpuOf(each, ...services) / naive).toFixed(1),
        ratio(cpuOf(each, ...services), naivePrice(results, each)),
      ]),
    },
    {
      title: 'CPU µs a record in the parts, and in the load generator',
      head: ['', ...parts, 'generator'],
      rows: loads.map((each) => [each.name, ...[...parts, 'generator'].map((name) => micros(cpuOf(each, name)))]),
    },
    {
      title: 'Memory in MB when all was stored; of the services also the most of it meanwhile',
      head: ['', ...services, ...parts],
      rows: loads.map((each) => [
        each.name,
        ...services.map((name) => `${memory(each, name)}/${each.processes[name]?.peakMegabytes ?? '–'}`),
        ...parts.map((name) => memory(each, name)),
      ]),
    },
    {
      title: 'Goals',
      head: ['', 'wanted', 'found', ''],
      rows: goalsOf(results).map(({ goal, wanted, found, verdict }) => [goal, wanted, found, verdict]),
    },
  ]
}

/** What most readers want to know, with the cheapest floor beside it. */
const inAHurry = (results: Results): Table => {
  const { workloads, halfLoad, floors } = results
  const bulk = findWorkload(results, 'shops', 5000)
  const mostStored = Math.max(...workloads.map((each) => each.storedPerSecond))
  const one = findInteractions(results, 1)
  const memoryOf = (name: string) => Math.max(...workloads.map((each) => each.processes[name]?.peakMegabytes ?? 0))
  const price = (type: string) => {
    const found = findWorkload(results, type, 5000)
    return found ? `${micros(cpuOf(found, ...services))} µs` : '–'
  }
  const naive = (type: string) => {
    const found = naivePrice(results, { type, recordsPerRequest: 5000 })
    return found === undefined ? '–' : `${micros(found)} µs`
  }
  const naiveRate = Math.max(...floors.naive.map((each) => each.answeredPerSecond))
  return {
    title: `In a hurry: ${results.machine.cores} cores, all of Weir and its load on them`,
    head: ['', 'Weir', 'publishing unchecked'],
    rows: [
      ['CPU of a shop, 5000 a request', price('shops'), naive('shops')],
      ['CPU of a transaction, 5000 a request', price('transactions'), naive('transactions')],
      ['CPU of an interaction, 5000 a request', price('interactions'), '–'],
      ['records a second, stored in ClickHouse', count(mostStored), `${count(naiveRate)} published`],
      ['a request of 5000, p50', bulk ? `${ms(bulk.took.p50)} ms` : '–', '–'],
      ['a single interaction, p50', one ? `${ms(one.took.p50)} ms` : '–', `${ms(floors.roundTrip.p50)} ms round trip`],
      ['visible to analysts, p95, half load', halfLoad.freshness ? `${ms(halfLoad.freshness.p95)} ms` : '–', '–'],
      ['memory of edge, integrity, sink', `${services.map(memoryOf).join(', ')} MB`, '–'],
    ],
  }
}

/** Where, when and on what it was measured, and what else was going on. */
export const headlineOf = (results: Results): string => {
  const { at, form, commit, machine, seconds } = results
  return (
    `The ${form} form, ${at.slice(0, 16).replace('T', ' ')} UTC, commit ${commit}, ${seconds} s. ` +
    `${machine.cores} cores (${machine.model}), ${machine.gigabytes} GB, Node ${machine.node}; ${surroundingsOf(results)}.`
  )
}

/** How busy the machine was, with others and in all. */
export const surroundingsOf = (results: Results): string => {
  const load = Math.max(...results.workloads.map((each) => each.loadAverage))
  return `others kept ${othersOf(results).toFixed(1)} cores busy meanwhile, load average up to ${load.toFixed(1)}`
}

const othersOf = ({ workloads }: Results): number =>
  workloads.reduce((sum, each) => sum + each.othersCores, 0) / Math.max(1, workloads.length)

// Above this share of the machine, what others do is seen in every figure.
const othersTooMany = 0.15

/** What makes figures of this run worth less: a machine that had other work, and requests that were not taken. */
export const problemsOf = (results: Results): string[] => {
  const { workloads, halfLoad, growth, machine } = results
  const isBusy = othersOf(results) > othersTooMany * machine.cores
  const busy = 'The machine had much else to do: figures are worse than they could be. Run it again when it is idle.'
  const loads = [...workloads, halfLoad, ...pacedLoads(results), ...growthLoads(growth)]
  const refused = loads
    .filter(({ problem }) => problem !== undefined)
    .map(({ name, statuses, problem }) => {
      const counts = Object.entries(statuses).map(([status, times]) => `${times} × ${status}`)
      return `${name}: ${counts.join(', ')}; ${problem}`
    })
  return [...(isBusy ? [busy] : []), ...refused]
}

const pacedLoads = ({ paced }: Results): Measured[] => (paced ? [paced.inOrder, paced.waiting] : [])

const growthLoads = (growth: Growth | undefined): Measured[] =>
  growth ? [growth.withFew, growth.withMany, growth.ofFew, growth.ofMany] : []

/** Names to the left, figures to the right. */
export const toText = ({ title, head, rows }: Table): string => {
  const cells = [head, ...rows]
  const widths = head.map((_, i) => Math.max(...cells.map((row) => row[i]?.length ?? 0)))
  const line = (row: string[]) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  ')
  return `${title}\n${cells.map((row) => line(row).trimEnd()).join('\n')}\n`
}

export const toMarkdown = ({ title, head, rows }: Table): string => {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  const rule = head.map((_, i) => (i === 0 ? '---' : '--:'))
  return `### ${title}\n\n${[head, rule, ...rows].map(line).join('\n')}\n`
}

const ratio = (value: number, to: number | undefined): string => (to === undefined ? '–' : (value / to).toFixed(1))
const ms = (value: number): string => (value >= 10 ? count(value) : value.toFixed(1))
const micros = (value: number): string => (value >= 100 ? count(value) : value.toFixed(1))
const memory = (measured: Measured, name: string): string => String(measured.processes[name]?.megabytes ?? '–')
