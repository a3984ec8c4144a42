import type { Observed } from '../observe/observed.js'
import type { Seen } from '../observe/topics.js'
import { createLedger, type Ledger } from '../workload/ledger.js'
import type { InteractionStep, Planned } from '../workload/plan.js'

export type World = { ledger: Ledger; observed: Observed }

/**
 * A small world in which all is well, for tests to spoil: two shops, one written twice and one deleted, with an
 * invalid one between them; an interaction that was taken, one that was refused, and one that nobody knows about; two offers
 * that waited, of which one was accepted in the end, and one replaced by a newer one; one that waited in vain; and one that was
 * refused, and accepted when it was submitted again.
 */
export const goodWorld = (): World => {
  const ledger = createLedger(['acme'])
  ledger.uploads.push(
    {
      org: 'acme',
      step: { kind: 'upload', type: 'shops', key: 'k1', records: [shop('a', 'old'), invalid, shop('b', 'gone')] },
      requestId: 'r1',
      attempts: 2,
      batches: [
        {
          batchId: 'b1',
          batch: 1,
          status: 207,
          places: [0, 1, 2],
          refused: [{ index: 1, codes: ['missing_field'] }],
          waited: [],
        },
      ],
    },
    {
      org: 'acme',
      step: { kind: 'upload', type: 'shops', key: 'k2', records: [shop('a', 'new'), shop('b', 'gone', true)] },
      requestId: 'r2',
      attempts: 1,
      batches: [{ batchId: 'b2', batch: 1, status: 200, places: [0, 1], refused: [], waited: [] }],
    },
    {
      org: 'acme',
      step: { kind: 'upload', type: 'offers', key: 'k5', records: [offer('x', 'waits'), offer('y', 'waits')] },
      requestId: 'r5',
      attempts: 1,
      batches: [{ batchId: 'b5', batch: 1, status: 207, places: [0, 1], refused: [], waited: [0, 1] }],
    },
    {
      org: 'acme',
      step: { kind: 'upload', type: 'offers', key: 'k6', records: [offer('y', 'accepted')] },
      requestId: 'r6',
      attempts: 1,
      batches: [{ batchId: 'b6', batch: 1, status: 200, places: [0], refused: [], waited: [] }],
    },
  )
  ledger.uploads.push(
    {
      org: 'acme',
      step: { kind: 'upload', type: 'offers', key: 'k8', records: [offer('v', 'expires')] },
      requestId: 'r8',
      attempts: 1,
      batches: [{ batchId: 'b8', batch: 1, status: 207, places: [0], refused: [], waited: [0] }],
    },
    {
      org: 'acme',
      step: { kind: 'upload', type: 'offers', key: 'k10', records: [offer('w', 'unknown_reference')] },
      requestId: 'r10',
      attempts: 1,
      batches: [{ batchId: 'b10', batch: 1, status: 400, places: [0], refused: [unknownShop], waited: [] }],
    },
    {
      org: 'acme',
      step: { kind: 'upload', type: 'offers', key: 'k10-retry', records: [offer('w', 'accepted')] },
      requestId: 'r11',
      attempts: 1,
      batches: [{ batchId: 'b11', batch: 1, status: 200, places: [0], refused: [], waited: [] }],
    },
  )
  ledger.retries.push({ org: 'acme', requestId: 'r10', records: 1, expected: 'accepted', orders: [order(1), order(0)] })
  ledger.tellings.set('b1', new Set(['{"status":207}']))
  ledger.interactions.push(
    {
      org: 'acme',
      step: interaction('m1', 'accepted'),
      attempts: 2,
      outcome: 'accepted',
      requestId: 'r3',
      interactionId: 'i1',
    },
    {
      org: 'acme',
      step: interaction('m2', 'unknown_reference'),
      attempts: 1,
      outcome: 'refused',
      requestId: 'r4',
      interactionId: null,
    },
    {
      org: 'acme',
      step: interaction('m3', 'accepted'),
      attempts: 1,
      outcome: 'doubtful',
      requestId: null,
      interactionId: null,
    },
  )

  const topics: Seen[] = []
  const write = (topic: string, key: string, value: Record<string, unknown>) =>
    topics.push({ topic, partition: 0, offset: topics.length, key, bytes: JSON.stringify(value), value })
  const accept = (id: string, name: string, batch_id: string, version: number, is_deleted: true | null = null) =>
    write('weir.accepted.shops', `acme/${id}`, { org_id: 'acme', batch_id, version, shop_id: id, name, is_deleted })
  const decide = (batch_id: string, accepted: number, refused: { index: number; problems: { code: string }[] }[]) =>
    write('weir.verdicts', batch_id, { org_id: 'acme', batch_id, accepted, refused })
  const acceptOffer = (offer_id: string, batch_id: string, version: number) =>
    write('weir.accepted.offers', `acme/${offer_id}`, { org_id: 'acme', batch_id, version, offer_id, name: offer_id })
  const inVain = [{ index: 0, problems: [{ code: 'unknown_reference' }] }]
  write('weir.verdicts', 'b8', { org_id: 'acme', batch_id: 'b8', accepted: 0, refused: [], waiting: [{ index: 0 }] })
  write('weir.waiting', 'acme/v', { org_id: 'acme', batch_id: 'b8', index: 0, state: 'refused', version: 5 })
  decide('b12', 0, inVain)
  write('weir.rejected', 'acme/b8', { org_id: 'acme', batch_id: 'b8', index: 0, type: 'offers' })
  decide('b10', 0, inVain)
  write('weir.rejected', 'acme/b10', { org_id: 'acme', batch_id: 'b10', index: 0, type: 'offers' })
  decide('b11', 1, [])
  acceptOffer('w', 'b11', 57_344)
  const missing = [{ index: 1, problems: [{ code: 'missing_field' }] }]
  decide('b1', 2, missing)
  // Told again, as after a crash.
  for (const _ of [1, 2]) {
    accept('a', 'old', 'b1', 8192)
    accept('b', 'gone', 'b1', 8194)
  }
  write('weir.rejected', 'acme/b1', { org_id: 'acme', batch_id: 'b1', index: 1, type: 'shops', version: 8193 })
  decide('b2', 2, [])
  accept('a', 'new', 'b2', 16_384)
  accept('b', 'gone', 'b2', 16_385, true)
  decide('b3', 1, [])
  write('weir.interactions', 'acme/i1', { org_id: 'acme', user_id: 'm1', interaction_id: 'i1' })

  const tellWait = (index: number, state: string, version: number) =>
    write('weir.waiting', `acme/${index}`, { org_id: 'acme', batch_id: 'b5', index, state, version })
  const bothWait = [{ index: 0 }, { index: 1 }]
  write('weir.verdicts', 'b5', { org_id: 'acme', batch_id: 'b5', accepted: 0, refused: [], waiting: bothWait })
  tellWait(0, 'waiting', 1)
  tellWait(1, 'waiting', 2)
  decide('b6', 1, [])
  acceptOffer('y', 'b6', 16_384)
  // Decided anew: a batch that no client knows, in which an event still belongs to the batch that it came in.
  decide('b7', 1, [])
  acceptOffer('x', 'b5', 24_576)
  tellWait(0, 'accepted', 4)
  tellWait(1, 'superseded', 3)
  const waits = [
    { org_id: 'acme', type: 'offers', batch_id: 'b5', index: 0, state: 'accepted', accepted_version: 24_576 },
    { org_id: 'acme', type: 'offers', batch_id: 'b5', index: 1, state: 'superseded', accepted_version: null },
    { org_id: 'acme', type: 'offers', batch_id: 'b8', index: 0, state: 'refused', accepted_version: null },
  ].map((wait) => ({ ...wait, is_early: false }))

  const verdict = { org_id: 'acme', request_id: 'r', type: 'shops', first_index: 0, waiting: null, gone: [] }
  const offers = { ...verdict, type: 'offers', refused: [] }
  const answer = (
    batch_id: string,
    status: number,
    errors: { index: number; id: null; problems: object[] }[],
    waited: object[] = [],
  ) => ({
    request_id: batch_id,
    type: 'shops',
    batches: [{ batch: 1, status, data: { batch_id, errors, waited } }],
  })
  return {
    ledger,
    observed: {
      views: {
        shops: [{ org_id: 'acme', shop_id: 'a', name: 'new' }],
        offers: ['x', 'y', 'w'].map((id) => ({ org_id: 'acme', offer_id: id, name: id })),
        interactions: [{ org_id: 'acme', user_id: 'm1', interaction_id: 'i1' }],
      },
      versions: new Map([
        ['shops acme/a', 16_384],
        ['shops acme/b', 16_385],
        ['offers acme/x', 24_576],
        ['offers acme/y', 16_384],
        ['offers acme/w', 57_344],
      ]),
      histories: new Map([
        ['shops acme/a', [8192, 16_384]],
        ['shops acme/b', [8194, 16_385]],
        ['offers acme/x', [24_576]],
        ['offers acme/y', [16_384]],
        ['offers acme/w', [57_344]],
      ]),
      rejections: [
        {
          org_id: 'acme',
          request_id: 'r1',
          batch_id: 'b1',
          index: 1,
          type: 'shops',
          codes: ['missing_field'],
          record: '{}',
        },
        {
          org_id: 'acme',
          request_id: 'r4',
          batch_id: 'b3',
          index: 1,
          type: 'interactions',
          codes: ['unknown_reference'],
          record: '{"user_id":"m2"}',
        },
        ...['b8', 'b10'].map((batch_id) => ({
          ...{ org_id: 'acme', request_id: 'r', batch_id, index: 0, type: 'offers', record: '{}' },
          codes: ['unknown_reference'],
        })),
      ],
      topics,
      verdicts: [
        { ...verdict, batch_id: 'b1', accepted: 2, refused: missing, submitted_offset: 1 },
        { ...verdict, batch_id: 'b2', accepted: 2, refused: [], submitted_offset: 2 },
        { ...verdict, batch_id: 'b3', type: 'interactions', accepted: 1, refused: [], submitted_offset: 3 },
        { ...offers, batch_id: 'b5', accepted: 0, waiting: bothWait, submitted_offset: 1 },
        { ...offers, batch_id: 'b6', accepted: 1, submitted_offset: 2 },
        { ...offers, batch_id: 'b7', request_id: 'b7', accepted: 1, submitted_offset: 3 },
        { ...offers, batch_id: 'b8', accepted: 0, waiting: [{ index: 0 }], submitted_offset: 4 },
        { ...offers, batch_id: 'b12', request_id: 'b12', accepted: 0, refused: inVain, submitted_offset: 5 },
        { ...offers, batch_id: 'b10', accepted: 0, refused: inVain, submitted_offset: 6 },
        { ...offers, batch_id: 'b11', accepted: 1, submitted_offset: 7 },
      ],
      waits,
      waitingLog: waits.map((wait) => ({ ...wait })),
      feeds: [
        ...[
          hand('shops', 'a', 8192),
          hand('shops', 'b', 8194),
          hand('shops', 'a', 16_384),
          hand('shops', 'b', 16_385, true),
        ],
        // As after an answer that was lost.
        hand('shops', 'a', 16_384),
        ...[hand('offers', 'y', 16_384), hand('offers', 'x', 24_576), hand('offers', 'w', 57_344)],
        hand('interactions', 'i1', 3),
      ],
      requests: new Map([
        ['r1', answer('b1', 207, [{ index: 1, id: null, problems: [{ code: 'missing_field' }] }])],
        ['r2', answer('b2', 200, [])],
        ['r3', answer('b3', 200, [])],
        ['r4', answer('b3', 400, [{ index: 0, id: null, problems: [{ code: 'unknown_reference' }] }])],
        ['r5', answer('b5', 207, [], waits.slice(0, 2))],
        ['r6', answer('b6', 200, [])],
        ['r8', answer('b8', 400, [{ index: 0, id: null, problems: inVain[0]?.problems ?? [] }], waits.slice(2))],
        ['r10', answer('b10', 400, [{ index: 0, id: null, problems: [{ code: 'unknown_reference' }] }])],
        ['r11', answer('b11', 200, [])],
      ]) as unknown as Observed['requests'],
      erasures: [],
    },
  }
}

/**
 * The same with three customers. One was erased, and is refused when it is sent again. One was taken out of what stays for sums, a purchase and an
 * interaction, and came back as somebody new; what was sent of that one meanwhile was taken, and it is not known when.
 */
export const erasedWorld = (): World => {
  const world = goodWorld()
  const { ledger, observed } = world
  const upload = (
    n: number,
    records: Planned[],
    refused: { index: number; codes: string[] }[] = [],
    type = 'customers',
  ) => {
    const batch = { batchId: `b${n}`, batch: 1, status: 200, places: records.map((_, index) => index), waited: [] }
    const step = { kind: 'upload' as const, type, key: `k${n}`, records }
    ledger.uploads.push({
      org: 'acme',
      step,
      requestId: `r${n}`,
      sentAt: n,
      attempts: 1,
      batches: [{ ...batch, refused }],
    })
    const problems = refused.map(({ index, codes: [code = ''] }) => ({ index, problems: [{ code }] }))
    const verdict = { org_id: 'acme', batch_id: `b${n}`, accepted: records.length - refused.length, refused: problems }
    const stored = { ...verdict, request_id: `r${n}`, type, first_index: 0, waiting: null, gone: [] }
    observed.verdicts.push({ ...stored, submitted_offset: n })
    const topic = { partition: 0, offset: n, bytes: `b${n}` }
    observed.topics.push({ ...topic, topic: 'weir.verdicts', key: `b${n}`, value: verdict })
    const errors = problems.map((each) => ({ ...each, id: null }))
    const data = { batch_id: `b${n}`, errors, waited: [] }
    observed.requests.set(`r${n}`, { batches: [{ batch: 1, status: 200, data }] } as never)
  }
  upload(20, [customer('ann', 'accepted'), customer('bob', 'accepted')], [])
  upload(40, [customer('bob', 'accepted'), customer('ann', 'erased')], [{ index: 1, codes: ['person_erased'] }])
  ledger.erasures.push({
    org: 'acme',
    erasureId: 'e1',
    names: ['ann', 'user of ann'],
    mode: 'erase',
    afterwards: 'refuse',
    doneAt: 30,
  })
  observed.erasures.push({ erasureId: 'e1', status: 'done', left: [] })
  const [former, newest] = [20 * 8192 + 1, 40 * 8192]
  const { record } = customer('bob', 'accepted')
  observed.views.customers = [{ org_id: 'acme', ...record }]
  observed.versions.set('customers acme/bob', newest)
  observed.histories.set('customers acme/bob', [former, newest])
  // The topic was compacted: the former version is gone.
  const event = { org_id: 'acme', batch_id: 'b40', version: newest, ...record }
  const place = { topic: 'weir.accepted.customers', partition: 0, offset: 2, key: 'acme/bob' }
  observed.topics.push({ ...place, bytes: 'bob', value: event })
  const refusal = { org_id: 'acme', request_id: 'r40', batch_id: 'b40', index: 1, type: 'customers', record: '{}' }
  observed.rejections.push({ ...refusal, codes: ['person_erased'] })
  const problems = [{ code: 'person_erased' }]
  const rejected = { topic: 'weir.rejected', partition: 0, offset: 900, key: 'acme/b40', bytes: 'b40' }
  observed.topics.push({ ...rejected, value: { ...refusal, problems } })
  observed.feeds.push(
    hand('customers', 'ann', 20 * 8192),
    hand('customers', 'bob', former),
    hand('customers', 'bob', newest),
  )

  upload(15, [customer('cy', 'accepted')])
  upload(16, [purchase('p1', 'accepted')], [], 'transactions')
  upload(17, [purchase('p2', 'erased')], [], 'transactions')
  const touch = { item_id: 'a', user_id: 'user of cy' }
  const told = { attempts: 1, outcome: 'accepted' as const, requestId: null, interactionId: 'i5' }
  ledger.interactions.push({ ...told, org: 'acme', step: { ...interaction('user of cy', 'accepted'), body: touch } })
  ledger.erasures.push({
    org: 'acme',
    erasureId: 'e2',
    names: ['cy', 'user of cy'],
    mode: 'pseudonymise',
    afterwards: 'new',
    doneAt: 55,
  })
  observed.erasures.push({ erasureId: 'e2', status: 'done', left: [] })
  upload(60, [{ ...customer('cy', 'accepted'), asNew: true }])
  const back = { org_id: 'acme', ...customer('cy', 'accepted').record }
  observed.views.customers.push(back)
  observed.versions.set('customers acme/cy', 60 * 8192)
  observed.histories.set('customers acme/cy', [60 * 8192])
  const cysPlace = { topic: 'weir.accepted.customers', partition: 0, offset: 3, key: 'acme/cy', bytes: 'cy' }
  observed.topics.push({ ...cysPlace, value: { ...back, batch_id: 'b60', version: 60 * 8192 } })
  observed.feeds.push(hand('customers', 'cy', 15 * 8192), hand('customers', 'cy', 60 * 8192))
  const kept = { org_id: 'acme', transaction_id: 'p1', student_id: null, amount: 7 }
  observed.views.transactions = [kept, { ...kept, transaction_id: 'p2', student_id: 'cy' }]
  for (const [n, id] of ['p1', 'p2'].entries()) {
    const version = (16 + n) * 8192
    observed.versions.set(`transactions acme/${id}`, version + 1)
    observed.histories.set(`transactions acme/${id}`, [version + 1])
    observed.feeds.push(hand('transactions', id, version), hand('transactions', id, version + 1))
  }
  const keptPlace = { topic: 'weir.accepted.transactions', partition: 0, offset: 7, key: 'acme/p1', bytes: 'p1' }
  observed.topics.push({ ...keptPlace, value: { ...kept, batch_id: 'b16', version: 16 * 8192 + 1 } })
  const nobodys = { org_id: 'acme', interaction_id: 'i5', item_id: 'a', user_id: null }
  observed.views.interactions?.push(nobodys)
  const touchPlace = { topic: 'weir.interactions', partition: 0, offset: 800, key: 'acme/i5', bytes: 'i5' }
  observed.topics.push({ ...touchPlace, value: nobodys })
  return world
}

const purchase = (id: string, expected: Planned['expected']): Planned => ({
  ...{ id, expected },
  record: { transaction_id: id, student_id: 'cy', amount: 7 },
})

const customer = (id: string, expected: Planned['expected']): Planned => ({
  ...{ id, expected },
  record: { customer_id: id, user_id: `user of ${id}`, name: id },
})

const hand = (type: string, id: string, version: number, isDeleted = false) => ({
  org: 'acme',
  type,
  id,
  version,
  isDeleted,
})

const shop = (id: string, name: string, isDeleted = false): Planned => ({
  id,
  expected: 'accepted',
  record: { shop_id: id, name, ...(isDeleted && { is_deleted: true }) },
})

const offer = (id: string, expected: Planned['expected']): Planned => ({
  id,
  expected,
  record: { offer_id: id, name: id },
})

const unknownShop = { index: 0, codes: ['unknown_reference'] }

const order = (submitted: number) => ({
  ...{ request_id: `o${submitted}`, status: 'done', submitted, accepted: submitted, refused: 0, given_up: 0 },
  requests: submitted > 0 ? [{ request_id: 'r11' }] : [],
})

const invalid: Planned = { id: 'c', expected: 'invalid', record: { shop_id: 'c' } }

const interaction = (marker: string, expected: InteractionStep['expected']): InteractionStep => ({
  kind: 'interaction',
  marker,
  key: expected === 'accepted' ? marker : null,
  expected,
  body: { user_id: marker },
})
