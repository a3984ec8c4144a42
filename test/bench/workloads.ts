import { catalogue } from '#schemas/catalogue.js'
import type { Stream } from './load/plan.js'

// What is sent, in which form of the bench, and for how long.

export type Form = {
  /** Of each measured load, and the fewest records of an upload: with few of them, start-up and idling would be most of the CPU. */
  seconds: number
  leastRecords: number
  warmSeconds: number
  roundTrips: number
  /** How often each of two loads is measured that are held against each other, and for how long each time. */
  turns: number
  turnSeconds: number
}

export const forms: Record<'short' | 'full', Form> = {
  short: { seconds: 4, leastRecords: 40_000, warmSeconds: 3, roundTrips: 150, turns: 2, turnSeconds: 4 },
  full: { seconds: 15, leastRecords: 150_000, warmSeconds: 5, roundTrips: 1000, turns: 4, turnSeconds: 7 },
}

export type Workload = { name: string; streams: readonly Stream[]; inStep?: boolean }

/** How many connections send requests of this size: enough to keep the system busy, as many uploaders would. */
const connectionsFor: Record<number, number> = { 5000: 4, 500: 16, 100: 32, 20: 64 }

export const sizes = [5000, 500, 100, 20] as const

const upload = (type: string, size: number): Workload => ({
  name: `${size} ${type}`,
  streams: [{ path: `/v1/data/${type}`, type, recordsPerRequest: size, connections: connectionsFor[size] ?? 1 }],
})

const interactions = (connections: number): Workload => ({
  name: `interactions × ${connections}`,
  streams: [{ path: '/user-interactions', type: 'interactions', recordsPerRequest: 1, connections }],
})

/** All types at the same time, in requests of 100 records of which 2 are refused, and interactions beside them. */
export const mixed: Workload = {
  name: 'all types, 2% refused',
  streams: [
    ...[...catalogue.uploads.keys()].map((type) => ({
      path: `/v1/data/${type}`,
      type,
      recordsPerRequest: 100,
      connections: 2,
      wrong: 2,
    })),
    ...interactions(16).streams,
  ],
  inStep: true,
}

/** A tenth of the records refer to new shops. */
const withNewShops = (name: string, sent: 'before' | 'after'): Workload => ({
  name,
  streams: [
    {
      path: '/v1/data/transactions?missing_references=wait&wait_for=1h',
      type: 'transactions',
      recordsPerRequest: 500,
      connections: connectionsFor[500] ?? 1,
      newShops: { count: 50, sent },
    },
  ],
})

export const inOrder = withNewShops('50 shops, 500 transactions', 'before')
/** The same in the wrong order: a tenth of the records wait for their shops, and are released. */
export const waiting = withNewShops('500 transactions, 50 wait', 'after')

export const workloads: readonly Workload[] = [
  ...['shops', 'transactions'].flatMap((type) => sizes.map((size) => upload(type, size))),
  upload('interactions', 5000),
  ...[1, 64, 256].map(interactions),
  mixed,
]

/**
 * How much the machine can do: four uploaders wait for their answers half of the time, and one organisation may have no more
 * in flight.
 */
export const throughput: Workload = {
  name: '5000 shops, 4 orgs',
  streams: [{ ...streamOf(upload('shops', 5000)), connections: 8 }],
}
export const throughputOrganisations = 4

/**
 * One load of each kind, to be run for a moment before anything counts; and again, since what another kind needs is compiled anew: the first
 * load that counted cost the edge 11.0 µs a shop, and the same one later 6.7.
 */
export const warmUps: readonly Workload[] = [
  upload('shops', 5000),
  upload('transactions', 5000),
  upload('interactions', 5000),
  interactions(64),
  // Each of its types comes seldom: after two moments of it a record still cost 185 µs, after four 128.
  ...[mixed, mixed, mixed],
  waiting,
]
export const warmTurns = 2

/** Half of what this one reached at full speed is the load under which freshness counts. */
export const halfLoadOf = upload('transactions', 500)
/** More than the edge has room for. */
export const flood: Workload = {
  name: '150 uploads at once',
  streams: [{ ...streamOf(upload('shops', 5000)), connections: 150 }],
}
/** What growth is measured by. */
export const growing = {
  fill: upload('shops', 5000),
  referring: upload('transactions', 5000),
  ofOrganisations: upload('shops', 500),
}

const compared = [upload('shops', 5000), upload('transactions', 5000), upload('shops', 100)]
/**
 * What is held against the naive way, or against the first of these: sent several times, by turns with it. Measured once each, the price of
 * 5000 transactions was 1.3 times the naive one in one run and 1.8 times in another.
 */
export const held: readonly Workload[] = [...compared, mixed, upload('interactions', 5000), throughput]

/** The same requests, sent to the naive way, which writes each record in this form. */
const naively = ({ name, streams, ...more }: Workload, form: 'JSON' | 'Avro'): Workload => ({
  ...more,
  name: `naive ${form}: ${name}`,
  streams: streams.map(({ wrong: _, ...stream }) => ({
    ...stream,
    path: stream.recordsPerRequest === 1 ? '/interaction' : `/naive-${form.toLowerCase()}/${stream.type}`,
  })),
})

/** The floors get the same bodies by the same connections. */
export const floorLoads = {
  naive: [...compared.flatMap((load) => [naively(load, 'JSON'), naively(load, 'Avro')]), naively(mixed, 'JSON')],
  floor: { name: 'floor: a message a body', streams: [{ ...streamOf(upload('shops', 5000)), path: '/floor' }] },
  interaction: {
    name: 'bare interactions × 64',
    streams: [{ ...streamOf(interactions(64)), path: '/interaction' }],
  },
}

/** An organisation that sends little, alone and beside one that sends all it can. */
export const quiet = {
  // Several connections: on one, a slow request would hold up the next, and the wait in that queue would be counted too.
  streams: [{ ...streamOf(upload('shops', 20)), connections: 8 }],
  perSecond: 80,
}
export const noisy = { streams: [{ ...streamOf(upload('shops', 5000)), connections: 16 }] }

/** What others refer to, and how many of each. */
export const knownRecords: [type: string, count: number][] = [
  ['shops', 100_000],
  ['customers', 1000],
  ['categories', 1000],
  ['tags', 1000],
  ['keywords', 1000],
]

function streamOf({ streams: [stream] }: Workload): Stream {
  if (!stream) throw new Error('a workload has a stream')
  return stream
}
