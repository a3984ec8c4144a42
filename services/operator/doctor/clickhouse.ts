import { type ClickHouse, type ClickHouseStorage, storageOf } from '#platform/clickhouse.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { innerOf, tablesOf, viewsOf } from '#schemas/derive/clickhouse/relations.js'
import { database } from '#schemas/derive/names.js'
import { type Examined, unless, warning, wrong } from './finding.js'

export type ClickHouseFacts = {
  version: string
  /** 0: this user may write. */
  readonly: number
  /** Settings that Weir sends with its inserts, and that this user may not change. */
  fixed: readonly string[]
  /** Tables and views that Weir makes, and those of them that are not there. */
  declared: number
  missing: readonly string[]
  storage: ClickHouseStorage | undefined
}

const sent = ['async_insert', 'insert_deduplicate', 'input_format_avro_allow_missing_fields']

export const lookAtClickHouse = async (clickhouse: ClickHouse, catalogue: Catalogue): Promise<ClickHouseFacts> => {
  const declared = [tablesOf, viewsOf, innerOf].flatMap((namesOf) => namesOf(catalogue))
  const [server] = await clickhouse.query<{ version: string; readonly: number }>(
    `select version() as version, toUInt8(value) as readonly from system.settings where name = 'readonly'`,
  )
  const fixed = await clickhouse.query<{ name: string }>(
    'select name from system.settings where readonly = 1 and has({sent:Array(String)}, name)',
    { sent },
  )
  const there = await clickhouse.query<{ name: string }>(
    'select name from system.tables where database = {database:String}',
    { database },
  )
  const found = new Set(there.map(({ name }) => name))
  return {
    ...{ version: server?.version ?? 'unknown', readonly: server?.readonly ?? 0 },
    fixed: fixed.map(({ name }) => name),
    declared: declared.length,
    missing: declared.filter((name) => !found.has(name)),
    storage: await storageOf(clickhouse, database),
  }
}

const oldest = 24.8

export const examineClickHouse = (facts: ClickHouseFacts): Examined => {
  const { version, readonly, fixed, missing, storage } = facts
  const free = storage && storage.size > 0 ? storage.free / storage.size : 1
  return {
    part: 'ClickHouse',
    about: `${version}, ${facts.declared - missing.length} tables and views of Weir`,
    findings: unless([
      [
        !(Number(/^\d+\.\d+/.exec(version)?.[0]) < oldest),
        warning(`${version} is older than ${oldest}, with which Weir was never tried`, 'upgrade ClickHouse'),
      ],
      [
        readonly === 0,
        wrong('its user only reads: nothing can be written', 'name a user who may write in CLICKHOUSE_URL'),
      ],
      [
        fixed.length === 0,
        wrong(
          `the user may not change ${fixed.join(', ')}, which Weir sends with every insert`,
          "take the constraint from the user's profile",
        ),
      ],
      [
        missing.length === 0,
        wrong(
          `${missing[0]}${missing.length > 1 ? ` and ${missing.length - 1} more` : ''} is not there`,
          '"weir provision" makes it',
        ),
      ],
      [
        free >= 0.1,
        wrong(`${Math.round(free * 100)} % of its disk is free`, 'make room; docs/operations.md, "Retention"'),
      ],
    ]),
  }
}
