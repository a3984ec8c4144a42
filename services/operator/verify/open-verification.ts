import { createClickHouse } from '#platform/clickhouse.js'
import type { Log } from '#platform/health/log.js'
import { createKafka } from '#platform/kafka/kafka.js'
import { createPool } from '#platform/postgres/postgres.js'
import { createRegistry } from '#platform/registry.js'
import { submittedTopic } from '#schemas/derive/names.js'
import { partitionsOf } from '#schemas/derive/topics.js'
import type { RecordType } from '#schemas/record.js'
import type { Config } from '../config.js'
import { partsOf } from '../desk/parts.js'
import { waitForParts } from '../desk/wait-for-part.js'
import { createDifferences } from './differences.js'
import { createExpectations } from './expectations.js'
import { noFigures } from './figures.js'
import type { Findings } from './report.js'
import type { Subject } from './subject.js'
import { verify } from './verify.js'

/** How long a part may take to answer before it counts as away. */
const partsWithin = 10_000

/** Opens the parts, verifies, and closes them. */
export const openVerification = async (
  options: Pick<Subject, 'catalogue' | 'org' | 'range' | 'now' | 'progress'> & {
    config: Config
    log: Log
    types: readonly RecordType[]
    mostExamples: number
    mends: boolean
  },
): Promise<Findings> => {
  const { config, log, types: wanted, mostExamples, mends, ...given } = options
  const clickhouse = createClickHouse(config.CLICKHOUSE_URL, { requestTimeout: 600_000 })
  const kafka = createKafka({ brokers: config.KAFKA_BROKERS, clientId: 'weir-operator', log })
  const registry = createRegistry(config.SCHEMA_REGISTRY_URL)
  const pool = createPool(config.POSTGRES_URL, log, 2)
  const differences = createDifferences(mostExamples)
  const types = new Map(
    wanted.map((type) => {
      const expectations = createExpectations(partitionsOf(given.catalogue, submittedTopic(type.type)))
      return [type.type, { type, figures: noFigures(type.type), expectations }]
    }),
  )
  const subject: Subject = {
    ...given,
    kafka,
    registry,
    pool,
    clickhouse,
    types,
    differences,
  }
  try {
    await waitForParts(partsOf(config, { kafka, registry, clickhouse, log }), partsWithin)
    const mended = await verify(subject, { mends })
    const figures = [...types.values()].map((one) => one.figures)
    return { range: given.range, now: given.now, figures, differences, mended }
  } finally {
    await pool.end()
    await clickhouse.close()
  }
}
