import type { Observed } from '../observe/observed.js'
import type { Seen } from '../observe/topics.js'
import { createLedger, type Ledger } from '../workload/ledger.js'
import type { InteractionStep, Planned } from '../workload/plan.js'

export type World = { ledger: Ledger; observed: Observed }

/**
 * A small world in which all is well, for tests to spoil: two shops, one written twice and one deleted, with an
 * invalid one between them; an interaction that was taken, one that was refused, and one that nobody knows about.
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
        { batchId: 'b1', batch: 1, status: 207, places: [0, 1, 2], refused: [{ index: 1, codes: ['missing_field'] }] },
      ],
    },
    {
      org: 'acme',
      step: { kind: 'upload', type: 'shops', key: 'k2', records: [shop('a', 'new'), shop('b', 'gone', true)] },
      requestId: 'r2',
      attempts: 1,
      batches: [{ batchId: 'b2', batch: 1, status: 200, places: [0, 1], refused: [] }],
    },
  )
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

  const verdict = { org_id: 'acme', type: 'shops', first_index: 0 }
  const answer = (batch_id: string, status: number, errors: { index: number; id: null; problems: object[] }[]) => ({
    request_id: batch_id,
    type: 'shops',
    batches: [{ batch: 1, status, data: { batch_id, errors } }],
  })
  return {
    ledger,
    observed: {
      views: {
        shops: [{ org_id: 'acme', shop_id: 'a', name: 'new' }],
        offers: [],
        branches: [],
        tags: [],
        interactions: [{ org_id: 'acme', user_id: 'm1', interaction_id: 'i1' }],
      },
      versions: new Map([
        ['shops acme/a', 16_384],
        ['shops acme/b', 16_385],
      ]),
      histories: new Map([
        ['shops acme/a', [8192, 16_384]],
        ['shops acme/b', [8194, 16_385]],
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
      ],
      topics,
      verdicts: [
        { ...verdict, batch_id: 'b1', accepted: 2, refused: missing, submitted_offset: 1 },
        { ...verdict, batch_id: 'b2', accepted: 2, refused: [], submitted_offset: 2 },
        { ...verdict, batch_id: 'b3', type: 'interactions', accepted: 1, refused: [], submitted_offset: 3 },
      ],
      requests: new Map([
        ['r1', answer('b1', 207, [{ index: 1, id: null, problems: [{ code: 'missing_field' }] }])],
        ['r2', answer('b2', 200, [])],
        ['r3', answer('b3', 200, [])],
        ['r4', answer('b3', 400, [{ index: 0, id: null, problems: [{ code: 'unknown_reference' }] }])],
      ]) as unknown as Observed['requests'],
    },
  }
}

const shop = (id: string, name: string, isDeleted = false): Planned => ({
  id,
  expected: 'accepted',
  record: { shop_id: id, name, ...(isDeleted && { is_deleted: true }) },
})

const invalid: Planned = { id: 'c', expected: 'invalid', record: { shop_id: 'c' } }

const interaction = (marker: string, expected: InteractionStep['expected']): InteractionStep => ({
  kind: 'interaction',
  marker,
  key: expected === 'accepted' ? marker : null,
  expected,
  body: { user_id: marker },
})
