import { count } from '../report/goals.js'
import type { Table } from '../report/tables.js'
import type { Results } from '../results.js'
import { assumptions, ceilingsOf, costOf, costsOf, needOf, processes } from './arithmetic.js'

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
  const needs = requests.map((size) => steps.map((step) => needOf(step, size, dearer(size), results.bytesOnDisk)))
  return [
    {
      title: 'What it costs: CPU µs of a record',
      head: ['requests of', ...processes],
      rows: requests.map((size) => [
        `${size} records`,
        ...processes.map((process) => costOf(dearer(size)[process], size).toFixed(1)),
      ]),
    },
    ...requests.map((size, i) => ({
      title: `What it needs, in requests of ${size} records`,
      head: ['', ...steps.map((step) => `${count(step)}/s`)],
      rows: [
        ['edges', ...(needs[i] ?? []).map(({ edges }) => orNone(edges))],
        ['integrity instances', ...(needs[i] ?? []).map(({ integrities }) => orNone(integrities))],
        ['sinks', ...(needs[i] ?? []).map(({ sinks }) => orNone(sinks))],
        ['partitions of each topic of uploads', ...(needs[i] ?? []).map(({ partitions }) => orNone(partitions))],
        ['lanes of the largest organisation', ...(needs[i] ?? []).map(({ lanes }) => orNone(lanes))],
        [`brokers of ${assumptions.coresOfBroker} cores`, ...(needs[i] ?? []).map(({ brokers }) => orNone(brokers))],
        ['cores of the Postgres primary', ...(needs[i] ?? []).map(({ postgresCores }) => orNone(postgresCores))],
        [
          `ClickHouse nodes of ${assumptions.coresOfClickHouse} cores`,
          ...(needs[i] ?? []).map(({ clickhouseNodes }) => orNone(clickhouseNodes)),
        ],
        ['MB/s to all brokers', ...(needs[i] ?? []).map(({ kafkaBytes }) => megabytes(kafkaBytes))],
        ['MB/s to ClickHouse', ...(needs[i] ?? []).map(({ clickhouseBytes }) => megabytes(clickhouseBytes))],
        ['runs out first', ...(needs[i] ?? []).map(({ limit }) => limit?.split(':')[0] ?? '–')],
      ],
    })),
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
