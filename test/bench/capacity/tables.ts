import { count } from '../report/goals.js'
import type { Table } from '../report/tables.js'
import type { Results } from '../results.js'
import {
  assumptions,
  ceilingsOf,
  costOf,
  costsOf,
  firstToSaturate,
  type Need,
  needOf,
  processes,
} from './arithmetic.js'

const steps = [10_000, 100_000, 1_000_000]
/** Two ways to send: few large requests, as an import does, and many small ones. */
const requests = [5000, 100]

/** What many records a second need, as tables. The dearer of shops and transactions counts, process by process. */
export const capacityTables = (results: Results): Table[] => {
  const [shops, transactions] = [costsOf(results, 'shops'), costsOf(results, 'transactions')]
  const dearer = (recordsPerRequest: number) =>
    Object.fromEntries(
      processes.map((process) => {
        const [a, b] = [shops[process], transactions[process]]
        return [process, costOf(a, recordsPerRequest) > costOf(b, recordsPerRequest) ? a : b]
      }),
    ) as typeof shops
  return [
    {
      title: 'What it costs: CPU µs of a record',
      head: ['requests of', ...processes],
      rows: requests.map((size) => [
        `${size} records`,
        ...processes.map((process) => costOf(dearer(size)[process], size).toFixed(1)),
      ]),
    },
    ...requests.map((size) => {
      const needs = steps.map((step) => needOf(step, size, dearer(size), results.bytesOnDisk))
      const row = (name: string, figure: (need: Need) => string) => [name, ...needs.map(figure)]
      return {
        title: `What it needs, in requests of ${size} records`,
        head: ['', ...steps.map((step) => `${count(step)}/s`)],
        rows: [
          row('edges', ({ edges }) => orNone(edges)),
          row('integrity instances', ({ integrities }) => count(integrities)),
          row('sinks', ({ sinks }) => count(sinks)),
          row('partitions of each topic of uploads', ({ partitions }) => count(partitions)),
          row('lanes of the largest organisation', ({ lanes }) => count(lanes)),
          row(`brokers of ${assumptions.coresOfBroker} cores`, ({ brokers }) => count(brokers)),
          row('cores of the Postgres primary', ({ postgresCores }) => count(postgresCores)),
          row(`ClickHouse nodes of ${assumptions.coresOfClickHouse} cores`, ({ clickhouseNodes }) =>
            count(clickhouseNodes),
          ),
          row('MB/s to all brokers', ({ kafkaBytes }) => megabytes(kafkaBytes)),
          row('MB/s to ClickHouse', ({ clickhouseBytes }) => megabytes(clickhouseBytes)),
          row('first to be full as the load grows', (need) => firstToSaturate(need, size, dearer(size)).what),
          row('and at how many records a second', (need) =>
            count(firstToSaturate(need, size, dearer(size)).recordsPerSecond),
          ),
          row('what more of it does not help', ({ limit }) => limit?.split(':')[0] ?? '–'),
        ],
      }
    }),
    {
      title: 'How far one of each goes: records a second',
      head: ['', ...requests.map((size) => `requests of ${size}`)],
      rows: ceilingsOf(requests[0] ?? 0, dearer(requests[0] ?? 0)).map(({ what }) => [
        what,
        ...requests.map((size) =>
          count(ceilingsOf(size, dearer(size)).find((each) => each.what === what)?.recordsPerSecond ?? 0),
        ),
      ]),
    },
  ]
}

const orNone = (value: number): string => (Number.isFinite(value) ? count(value) : 'no number is enough')
const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
