// What others rely on: HTTP, events, views and settings. The contracts of each release are kept in schemas/released, and a test compares
// today's with those of the last one (docs/compatibility.md says what may change).
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import avro from 'avsc'
import { packageRoot } from '#platform/process/package-root.js'
import { catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { keptMarts } from '#schemas/derive/clickhouse/kept.js'
import { clickhouseSql } from '#schemas/derive/clickhouse.js'
import { database, maskedDatabase, notKeptViewOf } from '#schemas/derive/names.js'
import { openapiOf } from '#schemas/derive/openapi.js'
import { settings } from '../settings-page.js'
import { breakingInOpenApi, type HttpContract } from './compare-openapi.js'

export type Contracts = {
  openapi: HttpContract
  /** The schema of each topic. */
  avro: Readonly<Record<string, unknown>>
  /** The type of each column of each view. */
  views: Readonly<Record<string, Readonly<Record<string, string>>>>
  settings: readonly string[]
}

/** Those of this build, without the words that explain them. */
export const contractsToday = (): Contracts => ({
  openapi: withoutWords(JSON.parse(JSON.stringify(openapiOf(catalogue)))) as HttpContract,
  avro: withoutWords(Object.fromEntries(schemasByTopic(catalogue.all.values()))) as Contracts['avro'],
  views: viewsIn(clickhouseSql(catalogue)),
  settings: [...new Set(settings().map(({ name }) => name))].sort(),
})

/** A sentence for each change by which something that worked with the last release would no longer work. */
export const breakingChanges = (before: Contracts, after: Contracts): string[] => [
  ...breakingInOpenApi(before.openapi, after.openapi),
  ...breakingInAvro(before.avro, after.avro),
  ...breakingInViews(before.views, after.views),
  ...before.settings.filter((name) => !after.settings.includes(name)).map((name) => `the setting ${name} is gone`),
]

/** Subscribers of yesterday read today's events, and today's services read yesterday's: both directions. */
export const breakingInAvro = (before: Contracts['avro'], after: Contracts['avro']): string[] =>
  Object.entries(before).flatMap(([topic, schema]) => {
    if (after[topic] === undefined) return [`the topic ${topic} is gone`]
    const [old, now] = [schema, after[topic]].map((each) => avro.Type.forSchema(each as avro.Schema))
    if (!old || !now) return []
    return [
      ...(reads(old, now) ? [] : [`${topic}: whoever has the schema before cannot read the new events`]),
      ...(reads(now, old) ? [] : [`${topic}: the events before cannot be read by the new schema`]),
    ]
  })

const reads = (reader: avro.Type, writer: avro.Type): boolean => {
  try {
    reader.createResolver(writer)
    return true
  } catch {
    // It throws where the two do not fit, which is the answer.
    return false
  }
}

export const breakingInViews = (before: Contracts['views'], after: Contracts['views']): string[] =>
  Object.entries(before).flatMap(([view, columns]) => {
    const now = after[view]
    if (!now) return [`the view ${view} is gone`]
    return Object.entries(columns).flatMap(([name, type]) => {
      if (now[name] === undefined) return [`${view}.${name} is gone`]
      return now[name] === type ? [] : [`${view}.${name} was ${type} and is ${now[name]}`]
    })
  })

const innerViews = new Set(keptMarts.map(({ name }) => `${database}.${notKeptViewOf(name)}`))

/** The views that analysts query, with their columns. The tables that the views read may change with any release. */
export const viewsIn = (statements: readonly string[]): Contracts['views'] =>
  Object.fromEntries(
    statements.flatMap((statement) => {
      const [, name, columns] = /^create or replace view (\S+)[^(\n]*\(\n([\s\S]*?)\n\)/.exec(statement) ?? []
      // A masked view has the columns of the view that it masks.
      if (!name || !columns || innerViews.has(name) || name.startsWith(`${maskedDatabase}.`)) return []
      const typed = [...columns.matchAll(/^ {2}`(\w+)` (.*?)(?: comment '.*)?,?$/gm)]
      return [[name, Object.fromEntries(typed.map(([, column = '', type = '']) => [column, type]))]]
    }),
  )

const words = ['doc', 'description', 'summary', 'title', 'example', 'examples', 'tags', 'externalDocs']
/** Below these stand names, one of which may be "description". */
const namesBelow = ['properties', 'schemas', 'responses', 'paths', 'content']

const withoutWords = (value: unknown, isNames = false): unknown => {
  if (Array.isArray(value)) return value.map((each) => withoutWords(each))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => isNames || !words.includes(name))
      .map(([name, each]) => [name, withoutWords(each, !isNames && namesBelow.includes(name))]),
  )
}

const folder = join(packageRoot, 'schemas/released')

/** The versions that were released, the newest last. */
export const releasedVersions = (): string[] =>
  readdirSync(folder)
    .map((name) => name.replace(/\.json$/, ''))
    .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }))

export const releasedContracts = (version: string): Contracts =>
  JSON.parse(readFileSync(contractsFile(version), 'utf8')) as Contracts

export const contractsFile = (version: string): string => join(folder, `${version}.json`)

/** A line for each path, schema, topic and view: short, and what changes between two releases can be seen. */
export const contractsText = (contracts: Contracts): string => {
  const line = ([name, value]: [string, unknown]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`
  const { paths, components, ...rest } = contracts.openapi
  const nested = (value: unknown) =>
    Object.entries(value as object)
      .map(line)
      .join(',\n')
  const openapi = [
    ...Object.entries(rest).map(line),
    `"paths":{\n${nested(paths)}\n}`,
    `"components":{\n${nested(components ?? {})}\n}`,
  ].join(',\n')
  return `{"openapi":{${openapi}},\n"avro":{\n${nested(contracts.avro)}\n},\n"views":{\n${nested(contracts.views)}\n},\n${line(['settings', contracts.settings])}}\n`
}
