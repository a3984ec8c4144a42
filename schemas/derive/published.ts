import type { Catalogue } from '../catalogue.js'
import { schemasByTopic } from './avro.js'
import { onCluster } from './clickhouse/placement.js'
import { clickhouseSql } from './clickhouse.js'
import { dbtSources } from './for-analysts/dbt-sources.js'
import { openapiOf } from './openapi.js'
import { pythonRecordTypesOf } from './python/record-types.js'
import { pythonSampledTypesOf } from './python/sampled-types.js'
import { asyncapiYaml } from './topic-reference/asyncapi.js'
import { publicTopicsOf } from './topic-reference/topic-reference.js'
import { topicsOf } from './topics.js'
import { endpointTypesOf } from './typescript/endpoint-types.js'
import { eventTypesOf } from './typescript/event-types.js'
import { recordTypesOf } from './typescript/record-types.js'

/** Every derived file that is committed for people who do not run TypeScript, by its name in schemas/published. */
export const publishedFiles = (catalogue: Catalogue): Map<string, string> => {
  const schemas = [...schemasByTopic(catalogue.all.values())]
  return new Map([
    ...schemas.map(([topic, schema]): [string, string] => [`${topic}.avsc`, json(schema)]),
    ['topics.json', json(topicsOf(catalogue))],
    ['clickhouse.sql', toSql(clickhouseSql(catalogue))],
    ['clickhouse-cluster.sql', toSql(clickhouseSql(catalogue, onCluster('weir')))],
    ['openapi.json', json(openapiOf(catalogue))],
    ['asyncapi.yaml', asyncapiYaml(catalogue)],
  ])
}

/** The derived files that are a part of a client, by their paths. */
export const clientFiles = (catalogue: Catalogue): Map<string, string> => {
  const topics = publicTopicsOf(catalogue).map(({ name }) => name)
  return new Map([
    ['clients/typescript/src/record-types.ts', recordTypesOf(catalogue)],
    ['clients/typescript/src/endpoints.ts', endpointTypesOf()],
    ['clients/typescript/src/events.ts', eventTypesOf(catalogue, topics)],
    ['clients/python/src/weir_client/record_types.py', pythonRecordTypesOf(catalogue)],
    ['clients/python/src/weir_client/sampled_types.py', pythonSampledTypesOf(catalogue)],
    ['clients/dbt/models/weir.yml', dbtSources(catalogue)],
  ])
}

const toSql = (statements: readonly string[]): string => statements.map((statement) => `${statement};\n`).join('\n')

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
