import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBatchCodec, createIdOf } from '#schemas/byte-path/byte-path.js'
import { catalogue } from '#schemas/catalogue.js'
import { shop } from '#schemas/records/shop.js'
import { transaction } from '#schemas/records/transaction.js'
import { cut, toBatches } from '../../../../services/edge/batches/batches.js'
import { createToEntry, type Entry, sentIn, toEntries } from '../../../../services/edge/batches/entries.js'
import { readBody } from '../../../../services/edge/body/body.js'
import { readRecords } from '../../../../services/edge/uploads/envelope.js'
import { createReadEntries } from '../../../../services/edge/uploads/straight.js'
import { anyBodyText, maybeSpoilt } from '../../../support/any-json.js'
import { sampleOf } from '../../../support/sample.js'
import { sentAs } from '../../../support/sent-as.js'
import { sized } from '../../../support/sized.js'

const types = [shop, transaction, ...[...catalogue.uploads.values()].filter(({ type }) => /courses|favour/.test(type))]
const how = { gzipped: false, limit: 1_000_000 }

describe.each(types)('$type', (type) => {
  const toEntry = createToEntry(type)
  const readEntries = createReadEntries(type, toEntry)
  const { encode, decode } = createBatchCodec(type)

  /** The entries of a body that is read as JSON; or why it is not taken. */
  const readSlowly = async (bytes: Buffer): Promise<Entry[] | string> => {
    const body = await readBody(bytes, how)
    if ('error' in body) return body.error.message
    if (body.entries) return body.entries
    const found = readRecords(body.json, type)
    return 'error' in found ? found.error.message : toEntries(toEntry, found.records, sentIn(body.sent))
  }
  const facts = { orgId: 'acme', requestId: 'r', bodySha256: Buffer.alloc(32), submittedAt: 0 }
  /** What is published of these entries. */
  const published = (entries: readonly Entry[]) =>
    toBatches(cut(entries, { records: 3, bytes: 1000 }), facts).map((batch) => encode(batch).toString('latin1'))

  it('publishes the same of a body that is read straight as of one that is read as JSON', async () => {
    const seen = { straight: 0, withRefusals: 0, slow: 0 }
    await fc.assert(
      fc.asyncProperty(maybeSpoilt(anyBodyText(type).map((text) => Buffer.from(text))), async (bytes) => {
        const body = await readBody(bytes, { ...how, readEntries })
        const slowly = await readSlowly(bytes)
        if ('error' in body || !body.entries) {
          seen.slow++
          return
        }
        seen.straight++
        if (body.entries.some((entry) => 'refusal' in entry)) seen.withRefusals++
        expect(published(body.entries)).toEqual(typeof slowly === 'string' ? slowly : published(slowly))
      }),
      { numRuns: sized(200, 500) },
    )
    expect(Math.min(seen.straight, seen.withRefusals, seen.slow)).toBeGreaterThan(20)
  })

  it('tells the id of a record from its bytes', async () => {
    const idOf = createIdOf(type)
    const records = [sampleOf(type), sampleOf(type, {}, { onlyRequired: true })]
    const entries = await readEntries(Buffer.from(JSON.stringify({ records })), () => undefined)
    const ids = entries?.map((entry) => ('refusal' in entry ? null : idOf(entry)))
    expect(ids).toEqual(records.map((given) => given[type.id]))
  })

  it('writes events that are read back as they were', () => {
    const entries = [sampleOf(type), { wrong: 1 }, sampleOf(type)].map((given) => toEntry(given, sentAs(given)))
    for (const batch of toBatches(cut(entries, { records: 2, bytes: 100_000 }), facts)) {
      const back = decode(encode(batch))
      const { records, lane, ...rest } = batch
      expect(back).toMatchObject(rest)
      expect(back.records.map(({ index }) => index)).toEqual(records.map(({ index }) => index))
    }
  })
})

describe('a full upload', () => {
  const readEntries = createReadEntries(shop, createToEntry(shop))
  const read = (records: unknown[]) =>
    readEntries(Buffer.from(JSON.stringify({ records })), () => undefined).then((entries) => entries?.length)

  it('is read straight, refused records among the others', async () => {
    const records = Array.from({ length: shop.limit }, (_, i) => (i % 50 === 0 ? { shop_id: i } : sampleOf(shop)))
    expect(await read(records)).toBe(shop.limit)
  })

  it('is left to the slow way where it holds too many records, names or bytes', async () => {
    const named = Array.from({ length: 250 }, (_, i) => ({ [`x${i}`]: 1 }))
    const long = [sampleOf(shop), { name: 'x'.repeat(100_000) }]
    const many = Array.from({ length: shop.limit + 1 }, () => sampleOf(shop))
    for (const records of [named, long, many]) expect(await read(records)).toBeUndefined()
  })
})
