import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fingerprintOf } from '../../clients/console/rows/fingerprint.js'
import type { openParts } from '../../clients/console/rows/open-in-worker.js'
import { hasPart, type PartRanges, partsOf, withPart } from '../../clients/console/rows/parts.js'
import { openFile } from '../../clients/console/rows/read-file.js'
import { createJournals, type UploadJournal } from '../../clients/console/uploads/journal.js'
import { createUploads } from '../../clients/console/uploads/uploads.js'
import type { TypeReference } from '../../clients/typescript/src/endpoints.js'
import { type Weir, WeirError } from '../../clients/typescript/src/index.js'
import { eventually } from '../support/eventually.js'
import { typeReferences } from './pretend/world.js'

const tags = typeReferences().find(({ type }) => type === 'tags') as unknown as TypeReference

const fileOf = (rows: number, name = 'tags.csv') =>
  new File([`tag_id,name\n${Array.from({ length: rows }, (_, n) => `t${n},Tag ${n}\n`).join('')}`], name)

/** As the worker reads it, but here. */
const open =
  (mostRows: number): typeof openParts =>
  async (file, type, { reading, answered = [] } = {}) => {
    const opened = await openFile(file, type, reading)
    const parts = partsOf(opened, mostRows)
    const next = async () => {
      const part = (await parts.next()).value ?? undefined
      return part && hasPart(answered, part.number) ? { ...part, rows: [] } : part
    }
    return { ...opened, next, close: () => void parts.return() }
  }

const storageOf = () => {
  const kept: Record<string, unknown> = {}
  const call = {
    getItem: (name: string) => (kept[name] as string | undefined) ?? null,
    setItem: (name: string, text: string) => void Object.assign(kept, { [name]: text }),
    removeItem: (name: string) => void delete kept[name],
  }
  // Like the browser's: what is kept are its own names.
  return Object.assign(Object.setPrototypeOf(kept, call), {}) as typeof kept & typeof call
}

describe('the parts of a file', () => {
  it('have its rows in order, none more than asked for, and end where the file ends', async () => {
    const file = fileOf(25)
    const found = []
    for await (const part of partsOf(await openFile(file, tags), 10)) found.push(part)
    expect(found.map(({ number, rows }) => [number, rows.length])).toEqual([
      [0, 10],
      [1, 10],
      [2, 5],
    ])
    expect(found.flatMap(({ rows }) => rows.map(({ line }) => line))).toEqual(
      Array.from({ length: 25 }, (_, n) => n + 2),
    )
    expect(found.at(-1)?.bytes).toBe(file.size)
  })

  it('are not larger than a request may be', async () => {
    const file = new File([`{"name":"${'y'.repeat(1_500_000)}"}\n`.repeat(5)], 'tags.ndjson')
    const found = []
    for await (const { rows } of partsOf(await openFile(file, tags), 1000)) found.push(rows.length)
    expect(found).toEqual([2, 2, 1])
  })

  it('are remembered by number, in whichever order they were answered', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(40)), (numbers) => {
        const ranges = numbers.reduce(withPart, [] as PartRanges)
        for (let n = 0; n <= 41; n++) expect(hasPart(ranges, n)).toBe(numbers.includes(n))
        expect(ranges.every(([first], index) => index === 0 || first > (ranges[index - 1]?.[1] ?? 0) + 1)).toBe(true)
      }),
    )
  })
})

it('tells a file by all of its bytes', async () => {
  const of = (text: string) => fingerprintOf(new Blob([text]))
  expect(await of('a,b\n1,2\n')).toBe(await of('a,b\n1,2\n'))
  expect(new Set(await Promise.all(['a,b\n1,2\n', 'a,b\n1,3\n', 'a,c\n1,2\n', ''].map(of))).size).toBe(4)
})

describe('an upload', () => {
  type Sent = { key: string; names: unknown[] }

  /** A service that answers a part unless `mayAnswer` says no: then it is silent until the request is given up. */
  const setup = (mayAnswer: (key: string) => boolean, storage = storageOf()) => {
    const sent: Sent[] = []
    const send = (records: Record<string, unknown>[], options: { idempotencyKey: string; signal: AbortSignal }) => {
      sent.push({ key: options.idempotencyKey, names: records.map(({ tag_id }) => tag_id) })
      const refused = records.flatMap(({ tag_id }, index) =>
        tag_id === 't3'
          ? [{ index, id: null, problems: [{ code: 'bad_format', field: 'tag_id', message: 'no' }] }]
          : [],
      )
      return new Promise((resolve, reject) => {
        options.signal.addEventListener('abort', () => reject(options.signal.reason))
        if (mayAnswer(options.idempotencyKey))
          resolve({ requestId: 'r', accepted: records.length - refused.length, refused, waiting: [] })
      })
    }
    const journals = createJournals({ storage, locks: undefined })
    const weir = { of: () => ({ send }) } as unknown as Weir
    const uploads = createUploads({ weir, org: 'demo', open: open(10), fingerprint: fingerprintOf, journals })
    return { uploads, sent, storage }
  }
  const untilEnded = ({ uploads }: Pick<ReturnType<typeof setup>, 'uploads'>) =>
    eventually(() => {
      expect(uploads.now()?.state).not.toBe('running')
      return uploads.now()
    })

  it('sends every part once, tells what was refused, and leaves nothing behind', async () => {
    const one = setup(() => true)
    one.uploads.start({ file: fileOf(35), type: tags, isPatient: false })
    const ended = await untilEnded(one)
    expect(ended).toMatchObject({ state: 'done', share: 1, tally: { accepted: 34, refused: 1 } })
    expect(ended?.refused.map(({ row }) => row.line)).toEqual([5])
    expect(one.sent.map(({ names }) => names.length).sort()).toEqual([10, 10, 10, 5])
    expect(Object.keys(one.storage)).toEqual([])

    // And after it another one.
    one.uploads.start({ file: fileOf(5, 'more-tags.csv'), type: tags, isPatient: false })
    expect(await untilEnded(one)).toMatchObject({ state: 'done', file: { name: 'more-tags.csv' } })
  })

  it('goes on after a reload with what was not answered, under the same Idempotency-Keys', async () => {
    const before = setup((key) => /-[02]$/.test(key))
    before.uploads.start({ file: fileOf(65), type: tags, isPatient: false })
    await eventually(() => expect(before.uploads.now()?.tally).toMatchObject({ accepted: 19, refused: 1 }))
    await eventually(() => expect(before.sent).toHaveLength(6))
    before.uploads.stop()
    expect(await untilEnded(before)).toMatchObject({ state: 'stopped', problem: undefined })

    const after = setup(() => true, before.storage)
    expect(await after.uploads.stoppedOf(fileOf(64))).toBeUndefined()
    const journal = await after.uploads.stoppedOf(fileOf(65))
    expect(journal).toMatchObject({
      name: 'tags.csv',
      type: 'tags',
      answered: [
        [0, 0],
        [2, 2],
      ],
    })
    after.uploads.start({ file: fileOf(65), type: tags, isPatient: false, journal })
    expect(await untilEnded(after)).toMatchObject({ state: 'done', tally: { accepted: 64, refused: 1 } })
    const numbers = after.sent.map(({ key }) => key.split('-')[1])
    expect(numbers.sort()).toEqual(['1', '3', '4', '5', '6'])
    const keysBefore = new Map(before.sent.map(({ key, names }) => [key, names]))
    for (const { key, names } of after.sent) if (keysBefore.has(key)) expect(names).toEqual(keysBefore.get(key))
    expect(after.sent.filter(({ key }) => keysBefore.has(key))).toHaveLength(4)
    expect(await after.uploads.stopped()).toEqual([])
  })

  it('sends a part in halves where a proxy takes only small bodies', async () => {
    const sizes: [string, number][] = []
    const send = async (records: unknown[], { idempotencyKey }: { idempotencyKey: string }) => {
      sizes.push([idempotencyKey.replace(/^[^-]+/, ''), records.length])
      if (records.length > 5) throw new WeirError('usage', 'too large', 'send less', { status: 413 })
      return { requestId: 'r', accepted: records.length, refused: [], waiting: [] }
    }
    const uploads = createUploads({
      ...{ weir: { of: () => ({ send }) } as unknown as Weir, org: 'demo', open: open(10) },
      ...{ fingerprint: fingerprintOf, journals: createJournals({ storage: storageOf(), locks: undefined }) },
    })
    uploads.start({ file: fileOf(10), type: tags, isPatient: false })
    expect(await untilEnded({ uploads })).toMatchObject({ state: 'done', tally: { accepted: 10 } })
    expect(sizes).toEqual([
      ['-0', 10],
      ['-0a', 5],
      ['-0b', 5],
    ])
  })

  it('says why a file cannot be read', async () => {
    const one = setup(() => true)
    one.uploads.start({ file: new File([new Uint8Array([97, 10, 0xff])], 'tags.csv'), type: tags, isPatient: false })
    expect(await untilEnded(one)).toMatchObject({ state: 'stopped', problem: expect.stringContaining('UTF-8') })
  })
})

it('keeps journals for a day, for their organisation, and not those of an upload that another tab still sends', async () => {
  const storage = storageOf()
  let now = 0
  const held: { name: string }[] = []
  const locks = { query: async () => ({ held }) } as unknown as LockManager
  const journals = createJournals({ storage, locks, now: () => now })
  const journal = { run: 'a', org: 'demo', answered: [], name: 'x' } as unknown as UploadJournal
  journals.write(journal)
  journals.write({ ...journal, run: 'b' })
  journals.write({ ...journal, run: 'c', org: 'other' })
  storage.setItem('weir.upload.d', 'something else')
  held.push({ name: 'weir.upload.b' })
  expect((await journals.stopped('demo')).map(({ run }) => run)).toEqual(['a'])
  expect(storage.getItem('weir.upload.d')).toBeNull()
  now = 86_400_001
  expect(await journals.stopped('demo')).toEqual([])
  expect(Object.keys(storage)).toEqual([])
})
