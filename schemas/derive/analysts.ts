import type { Catalogue } from '../catalogue.js'
import { oneServer, type Placement } from './clickhouse/placement.js'
import * as relations from './clickhouse/relations.js'
import { database } from './names.js'

export const analystPrefix = 'analyst_'
export const analystOf = (org: string): string => `${analystPrefix}${org}`

/** The statements that make a user who reads one organisation's rows and nothing else, on a ClickHouse server. */
export const createAnalystSql = (
  catalogue: Catalogue,
  org: string,
  passwordSha256: string,
  placed = oneServer,
): string[] => [
  `create user ${quote(analystOf(org))}${placed.on} identified with sha256_hash by '${passwordSha256}' settings ${settingsIn(placed)}`,
  ...analystAccessSql(catalogue, org, placed),
]

/** The most that one analyst's queries may take, so that they do not stop the sink; a client may ask for less. */
export const analystLimits = {
  max_execution_time: 120,
  max_memory_usage: 4_000_000_000,
  max_memory_usage_for_user: 8_000_000_000,
  max_concurrent_queries_for_user: 10,
}

const settingsIn = (placed: Placement): string =>
  [
    // 2, not 1: the usual clients send settings of their own with each query. It allows no write either.
    'readonly = 2',
    ...Object.entries(analystLimits).map(([name, most]) => `${name} = ${most} min 1 max ${most}`),
    // What does not fit into memory goes to the disk, before the limit ends the query.
    'max_bytes_before_external_group_by = 2000000000, max_bytes_before_external_sort = 2000000000',
    ...(placed === oneServer ? [] : onEveryShard),
  ].join(', ')

const onEveryShard = [
  // With this setting the policies of another server's table do not hold (ClickHouse issue 112891).
  'serialize_query_plan = 0 const',
  // A subquery is asked once, of all shards: the marts have many.
  "distributed_product_mode = 'global'",
]

/** The statements that show the user these rows; they may be run again. Policies first: the user never reads more than that. */
export const analystAccessSql = (catalogue: Catalogue, org: string, placed = oneServer): string[] => {
  const user = quote(analystOf(org))
  const tables = tablesOf(catalogue, placed)
  const { on } = placed
  return [
    ...tables.flatMap((table) => [
      `create row policy or replace ${only(org)} on ${table}${on} for select using org_id = '${org}' as restrictive to ${user}`,
      // A restrictive policy only narrows what a permissive one shows. On some servers a table with any policy shows nothing
      // to users without a permissive one: the services' own user, who runs this, must go on reading everything.
      `create row policy or replace ${rows(org)} on ${table}${on} for select using 1 as permissive to ${user}, current_user`,
    ]),
    // Table by table, not for the whole database: a table that is added later has no policy yet, and must not be readable.
    ...[...viewsOf(catalogue), ...tables].map((name) => `grant${on} select on ${name} to ${user}`),
  ]
}

/** Removes the user and the policies again; what does not exist is passed over. */
export const dropAnalystSql = (catalogue: Catalogue, org: string, placed = oneServer): string[] => [
  `drop user if exists ${quote(analystOf(org))}${placed.on}`,
  ...tablesOf(catalogue, placed).flatMap((table) =>
    [only(org), rows(org)].map((policy) => `drop row policy if exists ${policy} on ${table}${placed.on}`),
  ),
]

const only = (org: string): string => quote(`${analystOf(org)}_only`)
const rows = (org: string): string => quote(`${analystOf(org)}_rows`)

const tablesOf = (catalogue: Catalogue, { namesOf }: Placement): string[] =>
  relations.tablesOf(catalogue).flatMap(namesOf).map(inDatabase)

// A view reads its table as the user who queries it (sql security invoker), so the tables' policies hold in views too.
const viewsOf = (catalogue: Catalogue): string[] => relations.viewsOf(catalogue).map(inDatabase)

const inDatabase = (name: string): string => `${database}.${name}`

// An organisation's id may hold hyphens; it never holds a quote.
const quote = (name: string): string => `\`${name}\``
