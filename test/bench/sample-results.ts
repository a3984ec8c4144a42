import { latenciesOf } from './measure/figures.js'
import type { Measured, Results } from './results.js'

/** A load as if it had been measured; CPU in µs a record by process. */
export const sampleMeasured = (
  over: Partial<Measured>,
  cpu: Record<string, number> = { edge: 4, integrity: 8, sink: 3 },
): Measured => ({
  name: 'a load',
  type: 'shops',
  recordsPerRequest: 5000,
  connections: 4,
  requests: 100,
  records: 500_000,
  refused: 0,
  answeredPerSecond: 62_000,
  storedPerSecond: 61_000,
  took: latenciesOf([10, 20, 30]),
  freshness: latenciesOf([400, 500, 900]),
  processes: Object.fromEntries(
    Object.entries(cpu).map(([name, cpuMicros]) => [name, { cpuMicros, megabytes: 200, peakMegabytes: 250 }]),
  ),
  yardstickMicros: 1000,
  othersCores: 0.2,
  loadAverage: 2.5,
  statuses: { 200: 100 },
  ...over,
})

/** A run that meets its goals, as far as it measures them. */
export const sampleResults = (over: Partial<Results> = {}): Results => {
  const floor = (name: string, micros: number) => sampleMeasured({ name }, { floors: micros })
  const upload = (type: string, size: number) =>
    sampleMeasured(
      { name: `${size} ${type}`, type, recordsPerRequest: size },
      { edge: 4 + 400 / size, integrity: 8 + 900 / size, sink: 3 + 300 / size, kafka: 5, postgres: 2, clickhouse: 4 },
    )
  const interactions = (connections: number) =>
    sampleMeasured({
      name: `interactions × ${connections}`,
      type: 'interactions',
      recordsPerRequest: 1,
      connections,
    })
  return {
    at: '2026-01-31T12:00:00.000Z',
    form: 'short',
    commit: '1234567',
    machine: { cores: 2, model: 'a processor', gigabytes: 8, node: 'v22.0.0' },
    seconds: 150,
    floors: {
      naive: [floor('naive: JSON', 15), floor('naive: Avro', 16), floor('naive: JSON', 17), floor('naive: Avro', 19)],
      floor: floor('floor: a message a body', 2.4),
      interaction: floor('bare interactions × 64', 120),
      roundTrip: latenciesOf([8, 10, 12]),
    },
    workloads: [
      ...['shops', 'transactions'].flatMap((type) => [5000, 500, 100, 20].map((size) => upload(type, size))),
      ...[1, 64, 256].map(interactions),
      sampleMeasured({ name: '5000 shops, 4 orgs', connections: 8 }),
      sampleMeasured({ name: 'all types, 2% refused', type: 'mixed', recordsPerRequest: 100, refused: 10_000 }),
    ],
    halfLoad: sampleMeasured({ name: 'half load' }),
    bytesOnDisk: { kafka: 300, postgres: 120, clickhouse: 100 },
    ...over,
  }
}
