import { isObject } from '#http/read-values.js'
import { type Entity, entityName, findEntities } from '#ledger/entities.js'
import { findSources } from '#ledger/latest/sources.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Reader } from '#rejections/find-rejections.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { listOf, ownColumns } from '#schemas/derive/clickhouse/columns.js'
import { stateTableOf } from '#schemas/derive/clickhouse.js'
import { database, logTableOf, rejectionsLog, waitingLog } from '#schemas/derive/names.js'
import type { Layout } from '#schemas/derive/topics.js'
import type { AnswerOf } from '#schemas/endpoints/endpoint.js'
import type { followRecord } from '#schemas/endpoints/requests.js'
import type { Values } from '#schemas/field.js'
import { createReferencesOf, type RecordType, type Reference } from '#schemas/record.js'
import { isUuid } from '#schemas/uuid.js'
import type { FindOffsets } from './find-offsets.js'
import {
  mostVersionsOf,
  publishedTo,
  type RecordVersion,
  type RefusedVersion,
  stepsOf,
  type WaitedVersion,
} from './steps.js'

/** Everything that is known of one organisation's record; undefined where nothing is. */
export type FindJourney = (
  orgId: string,
  type: RecordType,
  id: string,
) => Promise<AnswerOf<typeof followRecord> | undefined>

const mostRefusals = 100
const mostWaits = 100
const mostSampled = 5
const settings = { date_time_output_format: 'iso' }

export const createFindJourney = (deps: {
  catalogue: Catalogue
  clickhouse: Reader
  pool: Pool
  findOffsets: FindOffsets
  layout: () => Layout
}): FindJourney => {
  const { clickhouse, pool } = deps
  const referrersOf = createReferrersOf(deps.catalogue)

  const findVersions = async (org: string, type: RecordType, id: string): Promise<RecordVersion[]> => {
    const most = mostVersionsOf(type)
    const rows = await clickhouse.query<VersionRow>(
      `select request_id as requestId, batch_id as batchId, accepted_at as acceptedAt, version, ${listOf(ownColumns(type))}
      from ${database}.${logTableOf(type.type)} final
      where org_id = {org:String} and \`${type.id}\` = {id:UUID}
      order by version desc
      limit {most:UInt32}`,
      // One more than is shown tells what the oldest of them changed.
      { org, id, most: most + 1 },
      settings,
    )
    return rows.reverse().map(({ requestId, batchId, acceptedAt, version, ...values }) => ({
      requestId,
      batchId,
      acceptedAt: new Date(acceptedAt),
      version: Number(version),
      values,
    }))
  }

  const findRefusals = async (org: string, type: RecordType, id: string) => {
    const rows = await clickhouse.query<RefusalRow>(
      `select request_id as requestId, batch_id as batchId, rejected_at as rejectedAt, version, problems,
        if(truncated, '', record) as whole
      from ${database}.${rejectionsLog} final
      where org_id = {org:String} and type = {type:String} and lower(ifNull(id, '')) = {id:String}
      order by version desc
      limit {most:UInt32}`,
      { org, type: type.type, id, most: mostRefusals },
      settings,
    )
    return rows.reverse().map((row) => ({ ...row, rejectedAt: new Date(row.rejectedAt), version: Number(row.version) }))
  }

  const findWaited = async (org: string, type: RecordType, id: string): Promise<WaitedVersion[]> => {
    const rows = await clickhouse.query<WaitRow>(
      `select request_id as requestId, batch_id as batchId, since, until, state, changed_at as changedAt, missing
      from ${database}.${waitingLog} final
      where org_id = {org:String} and type = {type:String} and id = {id:UUID}
      order by since desc, version desc
      limit {most:UInt32}`,
      { org, type: type.type, id, most: mostWaits },
      settings,
    )
    return rows.reverse().map((row) => ({
      ...row,
      since: new Date(row.since),
      until: new Date(row.until),
      changedAt: new Date(row.changedAt),
    }))
  }

  const findReferences = async (orgId: string, given: readonly Reference[]) => {
    // A refused record may name a type that is none.
    const references = given.filter((one) => isUuid(one.id) && deps.catalogue.all.has(one.type))
    const entityOf = (one: { type: string; id: string }): Entity => ({
      orgId,
      type: one.type,
      id: one.id.toLowerCase(),
    })
    const found = references.length > 0 ? await findEntities(pool, references.map(entityOf)) : []
    const names = new Set(found.map(entityName))
    return references.map(({ field, type, id }) => ({
      field,
      type,
      id: id.toLowerCase(),
      exists: names.has(entityName(entityOf({ type, id }))),
    }))
  }

  /** Of each type that refers to this one. A type of which too much would have to be read is left out. */
  const findReferrers = async (org: string, type: RecordType, id: string) => {
    const found = await Promise.all(
      referrersOf(type.type).map(async ({ referrer, where }) => {
        const isAlive = 'is_deleted' in referrer.fields ? ' and not ifNull(is_deleted, false)' : ''
        const [row] = await clickhouse
          .query<{ count: number; sample: string[] }>(
            `select toUInt32(count()) as count, groupArray(${mostSampled})(toString(\`${referrer.id}\`)) as sample
            from ${database}.${stateTableOf(referrer)} final
            where org_id = {org:String} and (${where})${isAlive}`,
            { org, id },
          )
          .catch(() => [])
        return row && row.count > 0 ? [{ type: referrer.type, ...row }] : []
      }),
    )
    return found.flat()
  }

  return async (orgId, type, id) => {
    const [found, refusals, waits] = await Promise.all([
      findVersions(orgId, type, id),
      findRefusals(orgId, type, id),
      findWaited(orgId, type, id),
    ])
    if (found.length === 0 && refusals.length === 0 && waits.length === 0) return undefined
    const most = mostVersionsOf(type)
    const versions = found.slice(-most)
    const before = found.length > most ? found[0] : undefined
    const values = versions.at(-1)?.values ?? valuesIn(refusals.at(-1)?.whole)
    // Of a record that only waits, what it waits for is all that is known here.
    const references = values ? createReferencesOf(type)(values as Values) : (waits.at(-1)?.missing ?? [])
    const name = { type, orgId, id, layout: deps.layout() }
    const batchIds = new Set([...versions, ...refusals, ...waits].map(({ batchId }) => batchId))
    const sought = versions.map(({ version, acceptedAt }) => ({ version, acceptedAt: acceptedAt.getTime() }))
    // Before the references: a question uses one connection to Postgres at a time.
    const sources = await findSources(pool, orgId, [...batchIds])
    const [offsets, refers_to, referred_by] = await Promise.all([
      deps.findOffsets({ orgId, type, ...publishedTo(name) }, sought),
      findReferences(orgId, references),
      findReferrers(orgId, type, id),
    ])
    const steps = stepsOf(name, { versions, before, refusals, waits, sources, offsets })
    return { type: type.type, id, steps, refers_to, referred_by }
  }
}

type VersionRow = { requestId: string; batchId: string; acceptedAt: string; version: string } & Record<string, unknown>
type RefusalRow = Omit<RefusedVersion, 'rejectedAt' | 'version'> & {
  rejectedAt: string
  version: string
  whole: string
}
type WaitRow = Omit<WaitedVersion, 'since' | 'until' | 'changedAt'> & Record<'since' | 'until' | 'changedAt', string>

/** What a refused record says, as far as it can be read; a number that is too large for JSON.stringify as a word. */
const valuesIn = (record: string | undefined): Record<string, unknown> | undefined => {
  if (!record) return undefined
  const parsed: unknown = JSON.parse(record, (_, value) =>
    typeof value === 'number' && !Number.isFinite(value) ? `${value}` : value,
  )
  return isObject(parsed) ? parsed : undefined
}

/** For each type, the types that refer to it, with the condition on their fields. */
const createReferrersOf = (catalogue: Catalogue) => (target: string) =>
  [...catalogue.all.values()].flatMap((referrer) => {
    const conditions = Object.entries(referrer.fields).flatMap(([name, field]) => {
      if (field.kind === 'reference') return field.to === target ? [`\`${name}\` = {id:UUID}`] : []
      if (field.kind !== 'item') return []
      const values = Object.entries(field.kinds).flatMap(([value, to]) => (to === target ? [`'${value}'`] : []))
      return values.length > 0 ? [`\`${name}\` = {id:UUID} and \`${field.by}\` in (${values.join(', ')})`] : []
    })
    return conditions.length > 0 ? [{ referrer, where: conditions.map((one) => `(${one})`).join(' or ') }] : []
  })
