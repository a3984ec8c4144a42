import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Entity, entityName } from '#ledger/entities.js'
import { createBatchCodec } from '#schemas/byte-path/byte-path.js'
import { catalogue } from '#schemas/catalogue.js'
import type { RecordType } from '#schemas/record.js'
import { cut, toBatches } from '../../../../services/edge/batches/batches.js'
import { createToEntry } from '../../../../services/edge/batches/entries.js'
import { createDryRun, type FindKnown } from '../../../../services/edge/uploads/dry-run.js'
import { decideFetch, wantedOf } from '../../../../services/integrity/decide-fetch.js'
import { sampleOf } from '../../../support/sample.js'
import { sentAs } from '../../../support/sent-as.js'
import { createFakeVerdictStore } from '../fakes/verdict-store.fake.js'

const now = Date.UTC(2026, 0, 1)
const orgs = ['acme', 'other']
// Few, so that a drawn reference is often known and often not.
const ids = Array.from({ length: 4 }, (_, i) => `00000000-0000-4000-8000-00000000000${i}`)
const types = [...catalogue.uploads.values()]

const anyEntity = fc
  .tuple(fc.constantFrom(...orgs), fc.constantFrom(...types), fc.constantFrom(...ids))
  .map(([orgId, { type }, id]) => entityName({ orgId, type, id }))
/** The names of the entities that integrity has in its index. */
const anyIndex = fc.uniqueArray(anyEntity, { maxLength: orgs.length * types.length * ids.length })

/** A record whose id and references are drawn; or one that the edge refuses. */
const anyRecord = (type: RecordType): fc.Arbitrary<unknown> => {
  const drawn = Object.entries(type.fields).filter(([name, { kind }]) => name === type.id || kind === 'reference')
  const valid = fc
    .record(Object.fromEntries(drawn.map(([name]) => [name, fc.constantFrom(...ids)])))
    .map((over) => sampleOf(type, over))
  const broken = fc.constantFrom({}, 7, sampleOf(type, { [type.id]: 'no id' }), sampleOf(type, { unheard_of: 1 }))
  return fc.oneof({ weight: 4, arbitrary: valid }, { weight: 1, arbitrary: broken })
}

const anyRequest = fc.constantFrom(...types).chain((type) =>
  fc.record({
    type: fc.constant(type),
    orgId: fc.constantFrom(...orgs),
    records: fc.array(anyRecord(type), { minLength: 1, maxLength: 12 }),
    batchRecords: fc.integer({ min: 1, max: 12 }),
    waitUntil: fc.option(fc.constantFrom(now, now + 60_000)),
  }),
)

it('foretells the verdicts that integrity gives on the same batches in the same world', async () => {
  const seen = { accepted: 0, refusedByEdge: 0, refusedByIntegrity: 0, waiting: 0, batches: 0 }
  await fc.assert(
    fc.asyncProperty(anyRequest, anyIndex, async ({ type, orgId, records, batchRecords, waitUntil }, index) => {
      const facts = { orgId, requestId: 'r', bodySha256: Buffer.alloc(32), submittedAt: now, lanes: 1 }
      const toEntry = createToEntry(type)
      const { encode, decode } = createBatchCodec(type)
      const entries = records.map((given) => toEntry(given, sentAs(given)))
      const cutBatches = toBatches(cut(entries, { records: batchRecords, bytes: 524_288 }), facts)
      const batches = cutBatches.map((batch) => ({ ...batch, wait_until: waitUntil }))
      const known = new Set(index)

      const dryRun = createDryRun(type, {
        ...{ findKnown: inIndex(known), store: createFakeVerdictStore(), now: () => now },
        hideErased: async (_, given) => given,
      })
      const foretold = await dryRun({ ...facts, type: type.type, keyed: false, keyId: null, batches })

      const fresh = batches.map((batch, offset) => ({ offset, timestamp: now, batch: decode(encode(batch)) }))
      const isReferenced = catalogue.referenced.has(type.type)
      const at = { topic: 't', partition: 0, type, isReferenced, first: 0, next: fresh.length }
      const isThere = (entity: Entity) => known.has(entityName(entity))
      // As the entity index answers.
      const isKnown = [...wantedOf(type, fresh)].every(isThere) ? ('all' as const) : isThere
      const room = { roomToWait: () => ({ records: 1_000_000, bytes: 1_000_000 }), sizeOf: () => 0 }
      const nothing = { takenBefore: new Map(), bodies: new Map(), waiting: [], ...room }
      const { verdicts } = decideFetch(at, fresh, { isKnown, ...nothing }, now)

      expect(foretold).toEqual({
        results: verdicts.map(({ topic, partition, submitted_offset, ...verdict }) => ({
          batch: verdict.batch,
          batchId: verdict.batch_id,
          outcome: { verdict },
        })),
      })
      seen.batches = Math.max(seen.batches, batches.length)
      for (const [i, { accepted, refused, waiting = [] }] of verdicts.entries()) {
        const byEdge = batches[i]?.refusals.length ?? 0
        seen.accepted += accepted
        seen.waiting += waiting.length
        seen.refusedByEdge += byEdge
        seen.refusedByIntegrity += refused.length - byEdge
      }
    }),
    { numRuns: 200 },
  )
  // Drawn so that there was something to foretell.
  expect(Math.min(seen.accepted, seen.refusedByEdge, seen.refusedByIntegrity)).toBeGreaterThan(50)
  expect(seen.batches).toBeGreaterThan(3)
})

/** Knows only of what it was asked for, as a query to the index would. */
const inIndex =
  (known: ReadonlySet<string>): FindKnown =>
  async (orgId, references) => {
    const found = new Set(references.map((reference) => entityName({ orgId, ...reference })))
    return (reference) => {
      const name = entityName({ orgId, ...reference })
      return found.has(name) && known.has(name)
    }
  }
