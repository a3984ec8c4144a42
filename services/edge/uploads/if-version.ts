import { setTimeout as sleep } from 'node:timers/promises'
import { type RequestError, requestError, Unavailable } from '#http/request-error.js'
import { noteMend } from '#ledger/audit.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Reads } from '#query/reads.js'
import { hasCaughtUp, type Sources } from '#rejections/plan-retry.js'
import { createBatchCodec } from '#schemas/byte-path/byte-path.js'
import { listOf, ownColumns } from '#schemas/derive/clickhouse/columns.js'
import { stateTableOf } from '#schemas/derive/clickhouse.js'
import { database } from '#schemas/derive/names.js'
import { createRecordWriter } from '#schemas/derive/written-record.js'
import { type ConflictAnswered, mostVersions } from '#schemas/endpoints/uploads.js'
import { recordsIn } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import type { VerdictStore } from '../requests/verdict-store.js'
import { answeredBefore, type Upload } from './upload.js'

// ?if_version=…: an upload that is taken only where it replaces what its sender has seen. It is checked against what was decided when
// the request came: of two who mend one record at the same moment, the later one wins, as with any two uploads.

/** For each record of a request, the version that it may replace; null where none of its id may have been accepted. */
export type SeenVersions = readonly (number | null)[]

/** Undefined where the text is something else. */
export const readIfVersion = (text: string): SeenVersions | undefined => {
  const given = text.split(',')
  const isRight = (one: string): boolean => one === 'none' || /^[0-9]{1,16}$/.test(one)
  return given.length <= mostVersions && given.every(isRight)
    ? given.map((one) => (one === 'none' ? null : Number(one)))
    : undefined
}

export type CurrentRecord = NonNullable<ConflictAnswered['current']>

/** The newest accepted record of each of these ids that has one, by its id. */
export type FindCurrent = (
  orgId: string,
  type: RecordType,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, CurrentRecord> | { error: RequestError }>

/** Notes in the audit which records somebody replaces, knowing what is there: that is how the console mends. */
export type NoteMend = (upload: Upload, type: RecordType, ids: readonly string[]) => Promise<void>

export const createNoteMend =
  (pool: Pool): NoteMend =>
  async ({ orgId: org, keyId, requestId }, { type }, ids) => {
    if (keyId === null) return
    await noteMend(pool, { org, keyId, requestId, type, ids }).catch((cause: unknown) => {
      throw new Unavailable('what is sent with if_version cannot be noted in the audit at the moment', { cause })
    })
  }

/** Finds out whether an upload would replace something that its sender has not seen: then that is the reason not to take it. */
export const createCheckVersions = (
  type: RecordType,
  deps: { findCurrent: FindCurrent; store: Pick<VerdictStore, 'ofRequest'>; noteMend: NoteMend; now: () => number },
) => {
  const { encode, decode } = createBatchCodec(type)
  const asSent = createRecordWriter(type)
  return async (upload: Upload, seen: SeenVersions, isDry: boolean): Promise<RequestError | undefined> => {
    const given = upload.batches.reduce((sum, batch) => sum + recordsIn(batch), 0)
    if (given !== seen.length)
      return requestError(
        400,
        `if_version names ${seen.length} versions for ${given} records: name one for each, in their order`,
      )
    // What was decided before is answered again, whatever has been accepted since: this very request, for one.
    const before = await answeredBefore(upload, deps)
    if ('error' in before) return before.error
    if ('results' in before) return undefined
    const sent = upload.batches
      .filter(({ batch_id }) => !before.decided.has(batch_id))
      .flatMap((batch) => {
        const { records, first_index } = decode(encode(batch))
        return records.map((record) => ({ index: first_index + record.index, record: asSent(record) }))
      })
    const idOf = (record: Record<string, unknown>): string => String(record[type.id])
    const current = await deps.findCurrent(
      upload.orgId,
      type,
      sent.map(({ record }) => idOf(record)),
    )
    if ('error' in current) return current.error
    const conflicts = sent.flatMap(({ index, record }): ConflictAnswered[] => {
      const found = current.get(idOf(record)) ?? null
      return (found?.version ?? null) === seen[index] ? [] : [{ index, id: idOf(record), sent: record, current: found }]
    })
    if (conflicts.length > 0) return { ...stale(conflicts.length, given), more: { conflicts } }
    // Before they are sent: what cannot be noted is not done.
    if (!isDry)
      await deps.noteMend(
        upload,
        type,
        sent.map(({ record }) => idOf(record)),
      )
    return undefined
  }
}

const stale = (some: number, all: number): RequestError =>
  requestError(
    409,
    `${some} of ${all} ${all === 1 ? 'record' : 'records'} would replace something else than if_version says, so none was taken; compare \`sent\` with \`current\`, and to overwrite it all the same send the version of \`current\` as if_version`,
  )

const withoutNulls = (values: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null))

const lookAgainAfter = 100
const patience = 5_000

/** Reads what is current from ClickHouse, once that shows all that was accepted by now. */
export const createFindCurrent =
  (sources: Sources, reads: Reads): FindCurrent =>
  (org, type, ids) =>
    reads(org, async () => {
      const endsAt = performance.now() + patience
      while (!(await hasCaughtUp(sources, { org, type: type.type }))) {
        if (performance.now() > endsAt) throw new Unavailable('ClickHouse is behind')
        await sleep(lookAgainAfter)
      }
      const rows = await sources.clickhouse.query<{ version: string; acceptedAt: string; [field: string]: unknown }>(
        `select version, accepted_at as acceptedAt, ${listOf(ownColumns(type))}
        from ${database}.${stateTableOf(type)} final
        where org_id = {org:String} and \`${type.id}\` in {ids:Array(UUID)}`,
        { org, ids },
        { date_time_output_format: 'iso' },
      )
      return new Map(
        rows.map(({ version, acceptedAt, ...record }) => [
          String(record[type.id]),
          { version: Number(version), accepted_at: acceptedAt, record: withoutNulls(record) },
        ]),
      )
    })
