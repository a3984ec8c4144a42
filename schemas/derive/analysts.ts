import type { Catalogue } from '../catalogue.js'
import { oneServer, type Placement } from './clickhouse/placement.js'
import * as relations from './clickhouse/relations.js'
import { database, maskedDatabase } from './names.js'

export const analystPrefix = 'analyst_'
const maskedSuffix = '_masked'
/** An organisation's id has no underscore, so no analyst of one is the masked analyst of another. */
export const analystOf = (org: string, isMasked = false): string =>
  `${analystPrefix}${org}${isMasked ? maskedSuffix : ''}`

/** A ClickHouse user of one organisation: a masked one sees pseudonyms of persons, and nothing personal. */
export type Analyst = { user: string; org: string; masked: boolean }

export const toAnalyst = (user: string): Analyst => {
  const masked = user.endsWith(maskedSuffix)
  return { user, org: user.slice(analystPrefix.length, masked ? -maskedSuffix.length : undefined), masked }
}

/** What the password of a masked analyst begins with, so that it says by itself who logs in. */
export const maskedPassword = 'masked-'

/** The statements that make a user who reads one organisation's rows and nothing else, on a ClickHouse server. */
export const createAnalystSql = (
  catalogue: Catalogue,
  org: string,
  passwordSha256: string,
  placed = oneServer,
  isMasked = false,
): string[] => [
  `create user ${quote(analystOf(org, isMasked))}${placed.on} identified with sha256_hash by '${passwordSha256}'${isMasked ? ` default database ${maskedDatabase}` : ''} settings ${settingsIn(placed, isMasked)}`,
  ...analystAccessSql(catalogue, org, placed, isMasked),
]

/** The most that one analyst's queries may take, so that they do not stop the sink; a client may ask for less. */
export const analystLimits = {
  max_execution_time: 120,
  max_memory_usage: 4_000_000_000,
  max_memory_usage_for_user: 8_000_000_000,
  max_concurrent_queries_for_user: 10,
}

const settingsIn = (placed: Placement, isMasked: boolean): string =>
  [
    // 2, not 1: the usual clients send settings of their own with each query. It allows no write either.
    'readonly = 2',
    ...Object.entries(analystLimits).map(([name, most]) => `${name} = ${most} min 1 max ${most}`),
    // What does not fit into memory goes to the disk, before the limit ends the query.
    'max_bytes_before_external_group_by = 2000000000, max_bytes_before_external_sort = 2000000000',
    ...(placed === oneServer ? [] : onEveryShard),
    ...(isMasked ? conditionsOnTables.map((name) => `${name} const`) : []),
  ].join(', ')

// Each holds a condition, and ClickHouse puts it to the tables behind a view too: there it would see what the view hides.
const conditionsOnTables = ['additional_table_filters', 'additional_result_filter', 'parallel_replicas_custom_key']

const onEveryShard = [
  // With this setting the policies of another server's table do not hold (ClickHouse issue 112891).
  'serialize_query_plan = 0 const',
  // A subquery is asked once, of all shards: the marts have many.
  "distributed_product_mode = 'global'",
]

/** The statements that show the user these rows; they may be run again. Policies first: the user never reads more than that. */
export const analystAccessSql = (catalogue: Catalogue, org: string, placed = oneServer, isMasked = false): string[] => {
  const user = analystOf(org, isMasked)
  const [name, limited] = [quote(user), limitedOf(catalogue, placed, isMasked)]
  const { on } = placed
  return [
    ...limited.flatMap((table) => [
      `create row policy or replace ${only(user)} on ${table}${on} for select using org_id = '${org}' as restrictive to ${name}`,
      // A restrictive policy only narrows what a permissive one shows. On some servers a table with any policy shows nothing
      // to users without a permissive one: the services' own user, who runs this, must go on reading everything.
      `create row policy or replace ${rows(user)} on ${table}${on} for select using 1 as permissive to ${name}, current_user`,
    ]),
    // Table by table, not for the whole database: a table that is added later has no policy yet, and must not be readable.
    ...[...(isMasked ? [] : viewsOf(catalogue)), ...limited].map((table) => `grant${on} select on ${table} to ${name}`),
  ]
}

/** Removes the user and the policies again; what does not exist is passed over. */
export const dropAnalystSql = (catalogue: Catalogue, org: string, placed = oneServer, isMasked = false): string[] => {
  const user = analystOf(org, isMasked)
  return [
    `drop user if exists ${quote(user)}${placed.on}`,
    ...limitedOf(catalogue, placed, isMasked).flatMap((table) =>
      [only(user), rows(user)].map((policy) => `drop row policy if exists ${policy} on ${table}${placed.on}`),
    ),
  ]
}

const only = (user: string): string => quote(`${user}_only`)
const rows = (user: string): string => quote(`${user}_rows`)

/** What has policies. A masked view reads its tables as the services' own user, so its rows are limited where it is read itself. */
const limitedOf = (catalogue: Catalogue, { namesOf }: Placement, isMasked: boolean): string[] =>
  isMasked
    ? relations.maskedViewsOf(catalogue).map((name) => `${maskedDatabase}.${name}`)
    : relations.tablesOf(catalogue).flatMap(namesOf).map(inDatabase)

// A view reads its table as the user who queries it (sql security invoker), so the tables' policies hold in views too.
const viewsOf = (catalogue: Catalogue): string[] => relations.viewsOf(catalogue).map(inDatabase)

const inDatabase = (name: string): string => `${database}.${name}`

// An organisation's id may hold hyphens; it never holds a quote.
const quote = (name: string): string => `\`${name}\``
