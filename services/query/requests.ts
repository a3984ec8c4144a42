import type { FastifyInstance } from 'fastify'
import { isTime, readCursor, writeCursor } from '#http/cursor.js'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import type { AfterRequest, ListedRequest, listDecidedRequests } from '#ledger/latest/requests.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { listRequests, type requestStatuses } from '#schemas/endpoints/requests.js'
import { isUuid } from '#schemas/uuid.js'
import type { Reads } from './reads.js'

/** Some of an organisation's requests, newest first: those of these types that come after a place in the list. */
export type ListRequests = (asked: Parameters<typeof listDecidedRequests>[1]) => Promise<ListedRequest[]>

export type RequestLists = {
  /** Those whose first batch is decided. */
  decided: ListRequests
  /** Those of which it is not. */
  pending: ListRequests
}

type RequestStatus = (typeof requestStatuses)[number]
type Asked = { status?: RequestStatus; type?: string; after?: AfterRequest; limit: number }

// With a status, the list is read in pieces, no more than these for one page: the next page goes on from there.
const piece = 500
const mostPieces = 4

/** GET /v1/requests: an organisation's requests, newest first. */
export const addRequestList = (
  app: FastifyInstance,
  deps: { catalogue: Catalogue; requestLists: RequestLists; consoleReads: Reads },
): void => {
  const { catalogue, requestLists } = deps
  const uploads = [...catalogue.uploads.keys()]

  const pieceOf = async (orgId: string, { type, after, status }: Asked, most: number) => {
    // Interactions that come by themselves are many, and each batch of them is a request: they are listed where they are asked for.
    const asked = { orgId, types: type === undefined ? uploads : [type], after, most }
    const isWanted = status === undefined || status === 'pending'
    // First those that are pending: one that is decided meanwhile is then in both lists, and not in neither.
    const pending = isWanted ? await requestLists.pending(asked) : []
    const lists = [await requestLists.decided(asked), pending]
    return {
      found: oncePerRequest(lists.flat()).sort(newestFirst).slice(0, most),
      isLast: lists.every((list) => list.length < most),
    }
  }

  const pageOf = async (
    orgId: string,
    asked: Asked,
  ): Promise<{ requests: ListedRequest[]; next: AfterRequest | null }> => {
    const requests: ListedRequest[] = []
    let place = asked.after
    for (let read = 0; read < mostPieces; read++) {
      const most = asked.status === undefined ? asked.limit + 1 : piece
      const { found, isLast } = await pieceOf(orgId, { ...asked, ...(place && { after: place }) }, most)
      for (const one of found) {
        if (requests.length === asked.limit) return { requests, next: place ?? null }
        place = { at: one.at, requestId: one.requestId }
        if (asked.status === undefined || statusOfListed(one) === asked.status) requests.push(one)
      }
      if (isLast) return { requests, next: null }
    }
    return { requests, next: place ?? null }
  }

  const list = on(
    listRequests,
    async ({ query: { cursor: after, ...query } }, request) => {
      const { orgId } = callerOf(request)
      const page = await deps.consoleReads(orgId, () => pageOf(orgId, { ...query, ...(after && { after }) }))
      if ('error' in page) return page
      return {
        requests: page.requests.map(listedAnswer),
        next_cursor: page.next ? writePlaceOfRequest(page.next) : null,
      }
    },
    { reads: { cursor: readPlaceOfRequest } },
  )
  addEndpoints(app, catalogue, [list])
}

const statusOfListed = (one: ListedRequest): RequestStatus => {
  if (one.decided < one.batches) return 'pending'
  if (one.waiting > 0) return 'waiting'
  if (one.accepted === recordsOf(one)) return 'accepted'
  return one.refused === recordsOf(one) ? 'refused' : 'partial'
}

/** Of the batches that are decided. */
const recordsOf = ({ accepted, refused, waiting, undecided }: ListedRequest): number =>
  accepted + refused + waiting + undecided

const listedAnswer = (one: ListedRequest) => ({
  request_id: one.requestId,
  type: one.type,
  ...(one.decided === 0 ? { submitted_at: one.at } : { decided_at: one.at }),
  status: statusOfListed(one),
  records: one.records ?? recordsOf(one),
  accepted: one.accepted,
  refused: one.refused,
  waiting: one.waiting,
})

const newestFirst = (a: ListedRequest, b: ListedRequest): number =>
  b.at.getTime() - a.at.getTime() || (a.requestId < b.requestId ? 1 : -1)

/** Of two bodies under one Idempotency-Key the one counts that was taken. */
const oncePerRequest = (found: readonly ListedRequest[]): ListedRequest[] => {
  const byId = new Map<string, ListedRequest>()
  for (const one of found) {
    const other = byId.get(one.requestId)
    if (!other || recordsOf(one) - one.refused > recordsOf(other) - other.refused) byId.set(one.requestId, one)
  }
  return [...byId.values()]
}

const writePlaceOfRequest = ({ at, requestId }: AfterRequest): string => writeCursor([at.getTime(), requestId])

const readPlaceOfRequest = (text: string): AfterRequest | undefined => {
  const [time, requestId] = readCursor(text, 2)
  return isTime(time) && typeof requestId === 'string' && isUuid(requestId)
    ? { at: new Date(time), requestId }
    : undefined
}
