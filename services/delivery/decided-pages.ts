import { type FeedCursor, isInTables, type LogPosition, writeCursor } from '#feeds/cursor.js'
import type { FeedSource } from '#feeds/feed.js'
import type { ReadRefused, ReadVerdicts, VerdictRead, VerdictsRead } from '#feeds/read-verdicts.js'
import type { CompletedRequest } from '#ledger/requests.js'
import type { Draft } from '#ledger/webhooks/deliveries.js'
import type { Log } from '#platform/health/log.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { writeJson } from '#schemas/json-text.js'
import { isGathered } from '#schemas/uuid.js'
import { bodyOf, cursorOf, idOf, type MadeNext, type QueueToRead, type ReadEvent } from './next.js'

export type DecidedDeps = {
  feed: Pick<FeedSource, 'begin'>
  readVerdicts: ReadVerdicts
  readRefused: ReadRefused
  findCompleted: (org: string, requestIds: readonly string[]) => Promise<CompletedRequest[]>
  catalogue: Catalogue
  log: Log
}

type Event = Exclude<ReadEvent, 'records.accepted'>
/** What an event makes of a page of verdicts; `whole` says whether nothing comes after them at this moment. */
type Make = (queue: QueueToRead, batches: readonly VerdictRead[]) => Promise<Draft[]>

// A digest is of everything since the one before, which may be a lot: what is beyond is in the next one.
const pagesOfDigest = 50
const mostExpired = 200

/** Deliveries of everything that is read off the verdicts: completed requests, refused records, waits that ended so. */
export const createDecidedPages = (deps: DecidedDeps) => {
  const types = [...deps.catalogue.all.values()]

  const read = async (org: string, cursor: FeedCursor): Promise<VerdictsRead & { cursor: FeedCursor }> => {
    const added = types.filter(({ type }) => {
      const position = cursor.positions.get(type)
      return position === undefined || isInTables(position)
    })
    const begun = added.length > 0 ? await deps.feed.begin(org, added, 'now') : undefined
    const from = new Map(
      types.map((type) => {
        const position = begun?.positions.get(type.type) ?? cursor.positions.get(type.type)
        return [type, position as LogPosition] as const
      }),
    )
    const page = await deps.readVerdicts(org, from)
    if (page.isPassedOver) deps.log.warn({ org }, 'a webhook was away for longer than verdicts are kept')
    const positions = new Map([...page.positions].map(([type, position]) => [type.type, position]))
    return { ...page, cursor: { at: Date.now(), positions } }
  }

  const make: Record<Exclude<Event, 'rejections.digest'>, Make> = {
    'request.completed': async ({ webhookId, org }, batches) => {
      const wanted = new Map(
        batches.flatMap(({ verdict }) => (isOfRequest(verdict) ? [[keyOf(verdict), verdict.request_id]] : [])),
      )
      if (wanted.size === 0) return []
      const found = await deps.findCompleted(org, [...new Set(wanted.values())])
      return found
        .filter(({ requestId, bodySha256 }) => wanted.has(keyOf({ request_id: requestId, body_sha256: bodySha256 })))
        .map((request) => ({
          id: idOf(
            webhookId,
            'request.completed',
            keyOf({ request_id: request.requestId, body_sha256: request.bodySha256 }),
          ),
          event: 'request.completed',
          records: request.accepted + request.refused + request.waiting,
          body: bodyOf('request.completed', writeJson(completed(request)), request.decidedAt),
        }))
    },
    'waiting.expired': async ({ webhookId, org }, batches) => {
      const drafts: Draft[] = []
      for (const batch of batches) {
        const { verdict } = batch
        if (!isResumed(verdict) || verdict.refused.length === 0) continue
        const records = (await deps.readRefused(batch)).map(({ type, id, request_id, index, problems }) => {
          return { type, id, request_id, index, problems }
        })
        for (let at = 0; at < records.length; at += mostExpired) {
          const some = records.slice(at, at + mostExpired)
          drafts.push({
            id: idOf(webhookId, 'waiting.expired', `${verdict.batch_id}/${at}`),
            event: 'waiting.expired',
            records: some.length,
            body: bodyOf('waiting.expired', writeJson({ org, records: some }), new Date(verdict.decided_at)),
          })
        }
      }
      return drafts
    },
  }

  const digest = async ({ webhookId, org, readTo }: QueueToRead): Promise<MadeNext> => {
    const groups = new Map<string, { type: string; code: string; records: number; example: object }>()
    let [cursor, refused, since, until, isEnd] = [cursorOf(org, readTo), 0, Number.POSITIVE_INFINITY, 0, false]
    for (let page = 0; page < pagesOfDigest && !isEnd; page++) {
      const found = await read(org, cursor)
      for (const { verdict } of found.batches) {
        if (verdict.refused.length === 0) continue
        since = Math.min(since, verdict.decided_at)
        until = Math.max(until, verdict.decided_at)
        refused += verdict.refused.length
        for (const { id, problems } of verdict.refused)
          for (const code of new Set(problems.map((problem) => problem.code))) {
            const message = problems.find((problem) => problem.code === code)?.message
            const name = `${verdict.type}/${code}`
            const example = { request_id: verdict.request_id, id, message }
            const group = groups.get(name) ?? { type: verdict.type, code, records: 0, example }
            groups.set(name, group)
            group.records++
          }
      }
      ;({ cursor, isEnd } = found)
    }
    const to = writeCursor(org, cursor)
    if (refused === 0) return { drafts: [], readTo: to, isEnd }
    const all = [...groups.values()].sort((a, b) => b.records - a.records)
    const data = { org, since: new Date(since), until: new Date(until), refused, groups: all }
    const body = bodyOf('rejections.digest', writeJson(data))
    const draft: Draft = {
      id: idOf(webhookId, 'rejections.digest', to),
      event: 'rejections.digest',
      records: refused,
      body,
    }
    return { drafts: [draft], readTo: to, isEnd }
  }

  return async (event: Event, queue: QueueToRead): Promise<MadeNext> => {
    if (event === 'rejections.digest') return digest(queue)
    const { batches, cursor, isEnd } = await read(queue.org, cursorOf(queue.org, queue.readTo))
    return { drafts: await make[event](queue, batches), readTo: writeCursor(queue.org, cursor), isEnd }
  }
}

type VerdictPart = VerdictRead['verdict']
const keyOf = ({ request_id, body_sha256 }: Pick<VerdictPart, 'request_id' | 'body_sha256'>): string =>
  `${request_id}/${body_sha256.toString('hex')}`

/** Whether integrity wrote the batch itself, to have records that waited decided anew. */
const isResumed = ({ request_id, batch_id }: VerdictPart): boolean => request_id === batch_id

/** Interactions that come one by one are answered at once, and many are gathered in one batch that nobody sent. */
const isOfRequest = (verdict: VerdictPart): boolean => {
  if (isResumed(verdict) || isGathered(verdict.request_id)) return false
  // Another body under an Idempotency-Key that was used: it is remembered as refused alone.
  return verdict.accepted > 0 || verdict.refused[0]?.problems[0]?.code !== 'idempotency_conflict'
}

const completed = ({ requestId, type, batches, accepted, refused, waiting, decidedAt }: CompletedRequest) => {
  const isWhole = refused === 0 && waiting === 0
  const status = isWhole ? 'success' : accepted === 0 && waiting === 0 ? 'error' : 'partial'
  return { request_id: requestId, type, status, batches, accepted, refused, waiting, decided_at: decidedAt }
}
