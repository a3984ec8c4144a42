import { randomUUID } from 'node:crypto'
import { appendFile, mkdtemp, readFile, rename, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { catalogue } from '#schemas/catalogue.js'
import { formatOf } from '../../../../../services/operator/analytics/export/format.js'
import type { ExportSubject } from '../../../../../services/operator/analytics/export/journal.js'
import { type ExportRun, filesOf, runExport } from '../../../../../services/operator/analytics/export/run.js'
import { sourceOf } from '../../../../../services/operator/analytics/export/source.js'
import { fill, id } from '../../../../schemas/marts/small-world.js'
import { makeTables } from '../../../../support/make-tables.js'
import { sharedParts } from '../../../../support/shared-parts.js'
import { sized } from '../../../../support/sized.js'
import { readParquet } from './read-parquet.js'

const clickhouse = createClickHouse(sharedParts.CLICKHOUSE_URL)
const org = randomUUID()
const folder = await mkdtemp(join(tmpdir(), 'weir-export-'))
const records = 60
const keywords = Array.from({ length: records }, (_, n) => ({ keyword_id: id(n), name: `word ${n}` }))

beforeAll(async () => {
  await makeTables(clickhouse)
  await fill(clickhouse, org, { keywords })
})
afterAll(() => clickhouse.close())

const subject: ExportSubject = {
  ...{
    name: 'keywords',
    format: 'parquet',
    server: 'here',
    org,
    from: null,
    to: null,
    at: null,
    history: false,
    with: {},
  },
  columns: [{ name: 'name', type: 'String' }],
}

const toRun = (file: string, more: Partial<ExportRun> = {}): ExportRun => ({
  ...{ clickhouse, file, subject, isRestart: false, rowsInPiece: 7, onResume: () => {}, onProgress: () => {} },
  source: sourceOf({ name: 'keywords', org, with: {} }, catalogue),
  format: formatOf(file),
  ...more,
})

/** A run that breaks off behind some pieces; what a killed one leaves is cut out of that. */
const runUntil = (file: string, pieces: number): Promise<unknown> =>
  runExport(
    toRun(file, {
      onProgress: (now) => {
        if (now.pieces >= pieces) throw new Error('broken off')
      },
    }),
  ).catch((error: Error) => {
    if (error.message !== 'broken off') throw error
  })

const newFile = (ending: string): string => join(folder, `${randomUUID()}${ending}`)
const read = async (file: string): Promise<unknown[]> =>
  file.endsWith('.parquet')
    ? readParquet(file)
    : (await readFile(file, 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)

it('has each row once, wherever it was ended, and whatever came in since', async () => {
  const whole = newFile('.parquet')
  expect(await runExport(toRun(whole))).toMatchObject({ rows: records, pieces: 9, resumed: false })
  const expected = (await readParquet(whole)) as { name: string; version: string }[]
  expect(expected.map(({ name }) => name).sort()).toEqual(keywords.map(({ name }) => name).sort())

  let later = 1
  const place = fc.record({
    ending: fc.constantFrom('.parquet', '.ndjson'),
    pieces: fc.integer({ min: 1, max: 9 }),
    // How much of what the run has written is lost with it.
    part: fc.double({ min: 0, max: 1, noNaN: true }),
    journal: fc.double({ min: 0, max: 1, noNaN: true }),
    rubbish: fc.constantFrom('', '\0\0\0', '{"end":1', '{"end":99999999,"rows":7}\n'),
  })
  await fc.assert(
    fc.asyncProperty(place, async ({ ending, pieces, part, journal, rubbish }) => {
      const file = newFile(ending)
      await runUntil(file, pieces)
      const names = filesOf(file)
      await cut(names.part, part)
      await cut(names.journal, journal)
      await appendFile(names.journal, rubbish)
      // A record that is changed behind the moment of the export, and one that is new.
      later++
      const change = { version: later, accepted_at: '2999-01-01 00:00:00' }
      await fill(clickhouse, org, { keywords: [{ ...change, keyword_id: id(3), name: 'changed' }] })
      await fill(clickhouse, org, { keywords: [{ ...change, keyword_id: randomUUID(), name: 'new' }] })
      expect((await runExport(toRun(file))).rows).toBe(records)
      expect(toNames(await read(file))).toEqual(toNames(expected))
    }),
    { numRuns: sized(12, 300) },
  )
})

it('goes on where it was: what is noted is not read again', async () => {
  const file = newFile('.ndjson')
  await runUntil(file, 4)
  let asked = 0
  const readBytes: ExportRun['clickhouse']['readBytes'] = (...given) => {
    asked++
    return clickhouse.readBytes(...given)
  }
  const resumedAt: number[] = []
  const done = await runExport(
    toRun(file, { clickhouse: { ...clickhouse, readBytes }, onResume: ({ pieces }) => resumedAt.push(pieces) }),
  )
  expect([asked, resumedAt, done.resumed]).toEqual([5, [4], true])
})

it('is complete where the run was ended between its last two steps', async () => {
  const file = newFile('.ndjson')
  await runUntil(file, 9)
  const { part, journal } = filesOf(file)
  await rename(part, file)
  expect(await runExport(toRun(file))).toMatchObject({ rows: records, resumed: true })
  await expect(readFile(journal)).rejects.toThrow('ENOENT')
})

it('refuses to go on with something else, and begins anew where that is asked for', async () => {
  const file = newFile('.ndjson')
  await runUntil(file, 2)
  const other = (changed: Partial<ExportSubject>) => runExport(toRun(file, { subject: { ...subject, ...changed } }))
  await expect(other({ server: 'there' })).rejects.toThrow('server was "here"')
  await expect(other({ org: null })).rejects.toThrow('begin anew with --restart')
  await expect(other({ columns: [] })).rejects.toThrow('the columns were others')
  await expect(other({ at: '24h' })).rejects.toThrow('at was null')
  const done = await runExport(toRun(file, { isRestart: true, subject: { ...subject, server: 'there' } }))
  expect(done).toMatchObject({ resumed: false, pieces: 9 })
})

it('refuses to write a file that another process is writing', async () => {
  const file = newFile('.ndjson')
  await runUntil(file, 2)
  const { journal } = filesOf(file)
  const text = await readFile(journal, 'utf8')
  // The process that started this one is alive.
  await writeFile(journal, text.replace(`"pid":${process.pid}`, `"pid":${process.ppid}`))
  await expect(runExport(toRun(file))).rejects.toThrow(`process ${process.ppid}`)
})

const cut = async (path: string, share: number): Promise<void> => {
  const { length } = await readFile(path)
  await truncate(path, Math.round(length * share))
}

const toNames = (rows: unknown[]): string[] => rows.map((row) => (row as { name: string }).name).sort()
