import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { Unavailable } from '#http/request-error.js'
import type { DecidedRequest, KeyedInteraction } from '#ledger/keyed-interactions.js'
import { batchIdsOf, type NotedRequest } from '#ledger/requests.js'
import type { Wait } from '#ledger/waiting/look-up.js'
import type { VerdictEvent } from '#schemas/events.js'
import type { VerdictStore } from '../../../../services/edge/requests/verdict-store.js'
import { waitOf } from '../../query/contracts/waiting.contract.js'

export type VerdictStoreHarness = {
  store: VerdictStore
  /** Stores verdicts as integrity does. */
  decide: (verdicts: VerdictEvent[]) => Promise<void>
  /** Stores a keyed interaction as integrity does. */
  take: (orgId: string, id: string, interaction: KeyedInteraction) => Promise<void>
  /** Stores where the verdicts on keyed interactions are, as integrity does. */
  place: (decided: DecidedRequest[]) => Promise<void>
  /** Stores records that wait or waited as integrity does. */
  wait: (waits: Wait[]) => Promise<void>
  /** A store whose Postgres does not answer. */
  away: VerdictStore
}

export const requestOf = (over: Partial<NotedRequest> = {}): NotedRequest => ({
  requestId: randomUUID(),
  orgId: 'acme',
  type: 'shops',
  bodySha256: Buffer.alloc(32, 1),
  batchRecords: [500, 7],
  lanes: 3,
  submittedAt: Date.now(),
  written: null,
  ...over,
})

/** Verdicts on all batches of a request. */
export const verdictsOn = (request: NotedRequest): VerdictEvent[] =>
  batchIdsOf(request).map((batch_id, i) => ({
    batch_id,
    org_id: request.orgId,
    request_id: request.requestId,
    type: request.type,
    batch: i + 1,
    batches: request.batchRecords.length,
    first_index: 500 * i,
    body_sha256: request.bodySha256,
    accepted: 1,
    refused: [
      { index: 1, id: null, problems: [{ field: null, code: 'wrong_type', message: 'no object' }] },
      { index: 3, id: 'x', problems: [{ field: 'name', code: 'bad_format', message: 'a "\u0000" in it' }] },
    ],
    decided_at: request.submittedAt,
  }))

/** What the edge relies on, of the store on Postgres and of the fake alike. */
export const verdictStoreContract = (open: () => Promise<VerdictStoreHarness> | VerdictStoreHarness): void => {
  describe('a verdict store', () => {
    let harness: VerdictStoreHarness
    beforeAll(async () => {
      harness = await open()
    })
    const find = ({ orgId, requestId }: NotedRequest) => harness.store.ofRequest(orgId, requestId)
    const save = (...requests: NotedRequest[]) => harness.store.saveRequests(requests)

    it('finds a request by its note, by its verdicts and by both, for its own organisation', async () => {
      const [noted, both, decided] = [requestOf(), requestOf({ written: 2 }), requestOf()]
      expect(await save(noted, both)).toEqual(new Set([noted.requestId, both.requestId]))
      const [verdict] = verdictsOn(both)
      await harness.decide(verdictsOn(both).slice(0, 1))
      await harness.decide(verdictsOn(decided))
      expect(await find(noted)).toEqual({ verdicts: [], noted })
      expect(await find(both)).toEqual({ verdicts: [verdict], noted: both })
      expect(await find(decided)).toEqual({ verdicts: verdictsOn(decided), noted: undefined })
      for (const request of [noted, both, decided, requestOf()])
        expect(await find({ ...request, orgId: 'other' })).toEqual({ verdicts: [], noted: undefined })
    })

    it('gives only the verdicts on the body that was decided first under a key', async () => {
      const request = requestOf()
      const otherBody = { ...request, batchRecords: [300], bodySha256: Buffer.alloc(32, 2) }
      await harness.decide([...verdictsOn(request), ...verdictsOn(otherBody)])
      expect((await find(request)).verdicts).toEqual(verdictsOn(request))
    })

    it('gives the verdicts of a request cut by cut, in the order of their batches', async () => {
      const request = requestOf({ batchRecords: [5, 5, 5] })
      const cutAnew = { ...request, batchRecords: [15, 1] }
      await harness.decide([...verdictsOn(request).reverse(), ...verdictsOn(cutAnew).reverse()])
      const { verdicts } = await find(request)
      expect(verdicts).toEqual([...verdictsOn(cutAnew), ...verdictsOn(request)])
    })

    it('finds the verdicts of batches, and nothing for those that are not decided', async () => {
      const request = requestOf()
      const [decided, ...undecided] = verdictsOn(request)
      if (!decided) throw new Error('the request has no batches')
      await harness.decide([decided])
      const ids = [...undecided.map(({ batch_id }) => batch_id), decided.batch_id, randomUUID()]
      expect(await harness.store.ofBatches(ids)).toEqual([decided])
      expect(await harness.store.ofBatches([])).toEqual([])
    })

    it('takes the newest note of a request; what was written stays so, and another body changes nothing', async () => {
      const first = requestOf({ written: 1 })
      await save(first)
      const again = { ...first, submittedAt: first.submittedAt + 5000, written: null }
      await save(again)
      expect((await find(first)).noted).toEqual(again)
      await save({ ...again, written: 2 })
      await save(again)
      expect((await find(first)).noted).toEqual({ ...again, written: 2 })
      // Cut anew: what was written of the other cut says nothing about this one.
      const cut = { ...again, batchRecords: [507] }
      await save(cut)
      expect((await find(first)).noted).toEqual(cut)

      const fresh = requestOf()
      const saved = await save({ ...first, bodySha256: Buffer.alloc(32, 9), batchRecords: [1] }, fresh)
      expect(saved).toEqual(new Set([fresh.requestId]))
      expect((await find(first)).noted).toEqual(cut)
      expect(await save({ ...first, orgId: 'other' })).toEqual(new Set())
      expect((await find(first)).noted).toEqual(cut)
    })

    it('keeps a note as it was when it was saved', async () => {
      const request = requestOf()
      const before = { ...request }
      await save(request)
      request.written = 2
      expect((await find(request)).noted).toEqual(before)
    })

    it('finds a keyed interaction, for its own organisation', async () => {
      const id = randomUUID()
      const interaction = { bodySha256: Buffer.alloc(32, 3), recordedAt: Date.UTC(2026, 0, 1, 0, 0, 0, 7) }
      await harness.take('acme', id, interaction)
      expect(await harness.store.keyedInteraction('acme', id)).toEqual(interaction)
      expect(await harness.store.keyedInteraction('other', id)).toBeUndefined()
      expect(await harness.store.keyedInteraction('acme', randomUUID())).toBeUndefined()
    })

    it('finds the verdict on a keyed interaction: the one that accepted it, or else the last', async () => {
      const attempts = [1000, 3000, 2000].map((submittedAt) => requestOf({ batchRecords: [5], submittedAt }))
      const verdicts = attempts.flatMap(verdictsOn)
      await harness.decide(verdicts)
      const [requestId, other] = [randomUUID(), randomUUID()]
      const decided = (i: number, place: number, isAccepted = false): DecidedRequest => ({
        requestId,
        batchId: verdicts[i]?.batch_id ?? '',
        place,
        isAccepted,
        decidedAt: verdicts[i]?.decided_at ?? 0,
      })
      const found = (orgId = 'acme', id = requestId) => harness.store.ofKeyedRequest(orgId, id)
      await harness.place([decided(0, 1), decided(0, 3), { ...decided(0, 0, true), requestId: other }])
      expect(await found()).toEqual({ verdict: verdicts[0], place: 3 })
      await harness.place([decided(2, 1)])
      expect(await found()).toEqual({ verdict: verdicts[2], place: 1 })
      await harness.place([decided(2, 0, true)])
      await harness.place([decided(1, 3)])
      expect(await found()).toEqual({ verdict: verdicts[2], place: 0 })
      expect(await found('acme', other)).toEqual({ verdict: verdicts[0], place: 0 })
      expect(await found('other')).toBeUndefined()
      expect(await found('acme', randomUUID())).toBeUndefined()
      // Its batch was decided so long ago that the verdict is gone.
      const forgotten = { ...decided(0, 0), requestId: randomUUID(), batchId: randomUUID() }
      await harness.place([forgotten])
      expect(await found('acme', forgotten.requestId)).toBeUndefined()
    })

    it('tells what became of records that waited since the verdict was given', async () => {
      const request = requestOf({ type: 'offers', batchRecords: [8] })
      const missing = [{ field: 'shop_id', type: 'shops', id: randomUUID() }]
      const until = Date.UTC(2026, 0, 2)
      const waits = [5, 6, 7].map((place) =>
        waitOf(place, missing, {
          requestId: request.requestId,
          until: new Date(until),
          changedAt: new Date(until + 7),
        }),
      )
      const waiting = waits.map(({ place, id }) => ({ index: place, id, for: missing, until }))
      const [verdict] = verdictsOn(request).map((one) => ({ ...one, accepted: 3, waiting }))
      if (!verdict) throw new Error('the request has no batches')
      await harness.decide([verdict])
      const problems = [{ field: 'shop_id', code: 'unknown_reference' as const, message: 'it waited' }]
      const ended = [{ state: 'accepted' as const }, { state: 'refused' as const, problems }, {}]
      await harness.wait(waits.map((wait, i) => ({ ...wait, ...ended[i], batchId: verdict.batch_id })))
      const waited = (i: number, state: string) => ({ index: 5 + i, id: waits[i]?.id, state, at: until + 7 })
      expect((await find(request)).verdicts).toEqual([
        {
          ...verdict,
          accepted: 4,
          refused: [...verdict.refused, { index: 6, id: waits[1]?.id, problems }],
          waiting: waiting.slice(2),
          waited: [waited(0, 'accepted'), waited(1, 'refused')],
        },
      ])
      const requestId = randomUUID()
      await harness.place([
        { requestId, batchId: verdict.batch_id, place: 5, isAccepted: true, decidedAt: verdict.decided_at },
      ])
      expect(await harness.store.ofKeyedRequest('acme', requestId)).toMatchObject({
        place: 5,
        verdict: { accepted: 4, waiting: waiting.slice(2) },
      })
    })

    it('says that it is unavailable while Postgres is away, and not that there is nothing', async () => {
      const { away } = harness
      const request = requestOf()
      const asked = [
        away.ofBatches([randomUUID()]),
        away.ofRequest('acme', request.requestId),
        away.ofKeyedRequest('acme', request.requestId),
        away.saveRequests([request]),
        away.keyedInteraction('acme', randomUUID()),
      ]
      for (const answer of await Promise.allSettled(asked))
        expect(answer).toEqual({ status: 'rejected', reason: expect.any(Unavailable) })
    })
  })
}
