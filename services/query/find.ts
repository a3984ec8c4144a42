import type { FastifyInstance } from 'fastify'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import type { FoundThing } from '#ledger/latest/find-id.js'
import type { Reader } from '#rejections/find-rejections.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { database, logTableOf, rejectionsLog, waitingLog } from '#schemas/derive/names.js'
import { allows, dataRead, manageKeys, readKeys } from '#schemas/derive/scopes.js'
import { findId } from '#schemas/endpoints/requests.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { isUuid } from '#schemas/uuid.js'
import type { Reads } from './reads.js'

export type FindDeps = {
  catalogue: Catalogue
  /** What Postgres knows of an id. */
  findThings: (orgId: string, id: string) => Promise<FoundThing[]>
  /** The types of records with this id that are in the tables; not `complete` where some of these could not be asked. */
  findStored: (orgId: string, id: string) => Promise<{ types: string[]; complete: boolean }>
  /** The organisation of a key. */
  findKeyOrg: (keyId: string) => Promise<string | undefined>
  consoleReads: Reads
}

/** GET /v1/find: what has an id, whatever it is. */
export const addFind = (app: FastifyInstance, deps: FindDeps): void => {
  const { catalogue } = deps

  const things = async (orgId: string, id: string, mayReadData: boolean) => {
    const [known, stored] = await Promise.all([
      deps.findThings(orgId, id),
      mayReadData ? deps.findStored(orgId, id) : { types: [], complete: true },
    ])
    const records = known.filter(({ kind }) => kind === 'record').map(({ type }) => type)
    const types = mayReadData ? [...new Set([...records, ...stored.types])].sort() : []
    return {
      found: [
        ...types.map((type) => ({ kind: 'record' as const, type, id })),
        ...known.flatMap(({ kind, type, requestId }) =>
          kind === 'record' ? [] : { kind, type, id, ...(requestId !== null && { request_id: requestId }) },
        ),
      ],
      complete: stored.complete,
    }
  }

  const find = on(findId, async ({ query: { id: given } }, request) => {
    const { orgId, scopes, isOperator } = callerOf(request)
    const id = given.trim().toLowerCase()
    if (isUuid(id)) return deps.consoleReads(orgId, () => things(orgId, id, allows(scopes, dataRead, catalogue)))
    const mayAll = Boolean(isOperator) && allows(scopes, readKeys, catalogue)
    const mayOwn = allows(scopes, manageKeys, catalogue)
    const org = mayAll || mayOwn ? await deps.findKeyOrg(given.trim()) : undefined
    const isShown = org !== undefined && (mayAll || org === orgId)
    return { found: isShown ? [{ kind: 'key' as const, id: given.trim(), org }] : [], complete: true }
  })
  addEndpoints(app, catalogue, [find])
}

/** Asks ClickHouse for records of every type, accepted, refused or waiting. */
export const createFindStored = ({
  catalogue,
  clickhouse,
}: {
  catalogue: Catalogue
  clickhouse: Reader
}): FindDeps['findStored'] => {
  const accepted = (types: RecordType[]) =>
    types
      .map(
        ({ type, id }) => `(
        select '${type}' as type from ${database}.${logTableOf(type)}
        where org_id = {org:String} and \`${id}\` = {id:UUID} limit 1)`,
      )
      .join('\nunion all\n')
  const all = [...catalogue.all.values()]
  // Apart, because these read more than an index leads to: where one is too much for a large organisation, the others still answer.
  const questions = [
    accepted(all.filter(hasVersions)),
    accepted(all.filter((type) => !hasVersions(type))),
    `select distinct type from ${database}.${rejectionsLog}
    where org_id = {org:String} and lower(ifNull(id, '')) = {id:String}`,
    `select distinct type from ${database}.${waitingLog} where org_id = {org:String} and id = {id:UUID}`,
  ]
  return async (org, id) => {
    const answers = await Promise.allSettled(
      questions.map((sql) => clickhouse.query<{ type: string }>(sql, { org, id })),
    )
    const rows = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
    const types = [...new Set(rows.map(({ type }) => type))].filter((type) => catalogue.all.has(type))
    return { types, complete: answers.every(({ status }) => status === 'fulfilled') }
  }
}
