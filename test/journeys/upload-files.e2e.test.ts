// An uploader has files, a key and one command, and a machine that may be switched off at any moment.
import { EventEmitter, once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { execa } from 'execa'
import { afterAll, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { viewOf } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import { formOf, openRows } from '../../clients/uploader/read/open-rows.js'
import type { Row } from '../../clients/uploader/read/row.js'
import type { Summary } from '../../clients/uploader/report/summary.js'
import { idOf } from '../../schemas/samples/chance.js'
import { amountsFor, isBroken, recordAt, type Sample } from '../../schemas/samples/records.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { openLinkTo } from '../support/link.js'
import { sized } from '../support/sized.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'

const folder = await mkdtemp(join(tmpdir(), 'weir upload '))
afterAll(() => rm(folder, { recursive: true, force: true }))
const org = await newOrganisation('upload-files')

const weir = (words: string[], env: Record<string, string> = {}) =>
  execa(process.execPath, ['dist/clients/uploader/main.js', ...words], {
    env: { WEIR_URL: system.edgeUrl, WEIR_KEY: org.key, ...env },
    reject: false,
  })
const upload = async (words: string[], env: Record<string, string> = {}) => {
  const { stdout, stderr, exitCode } = await weir(['upload', '--json', ...words], env)
  return { exitCode, stderr, summary: (stdout ? JSON.parse(stdout) : undefined) as Summary }
}

const customers = sized(150, 2000)
const sample: Sample = { seed: 7, broken: 0.02, amounts: amountsFor(customers) }
const placesOf = ({ type }: RecordType, broken: boolean): number[] =>
  Array.from({ length: sample.amounts[type] ?? 0 }, (_, i) => i).filter((i) => isBroken(sample, type, i) === broken)
const linesOfRefused = async (file: string): Promise<number[]> => {
  const text = await readFile(`${file}.refused.csv`, 'utf8').catch(() => '')
  const rows = parse(text, { columns: true }) as { weir_line: string }[]
  return rows.map(({ weir_line }) => Number(weir_line)).sort((a, b) => a - b)
}

it('sends a folder of all types, killed again and again: each good row once, each bad one refused once with its line', async () => {
  const { exitCode } = await weir([
    'sample',
    '--customers',
    `${customers}`,
    '--seed',
    '7',
    '--broken',
    '2%',
    '--out',
    folder,
  ])
  expect(exitCode).toBe(0)
  const kills = sized([400, 900], [400, 700, 1000, 1300, 1600])
  for (const ms of kills) {
    const running = weir(['upload', folder])
    const timer = setTimeout(() => running.kill('SIGKILL'), ms)
    await running
    clearTimeout(timer)
  }
  const done = await upload([folder])
  expect(done.stderr).not.toMatch(/changed|another process|Warning/)
  const bad = [...catalogue.all.values()].reduce((sum, type) => sum + placesOf(type, true).length, 0)
  expect(done.exitCode).toBe(3)
  expect(done.summary).toMatchObject({ refused: bad, waiting: 0 })
  expect(done.summary.files.map(({ type, state }) => [type, state])).toEqual(
    [...catalogue.all.keys()].map((type) => [type, 'finished']),
  )

  for (const type of catalogue.all.values()) {
    expect(await linesOfRefused(join(folder, `${type.type}.csv`)), type.type).toEqual(
      placesOf(type, true).map((i) => i + 2),
    )
  }
  for (const type of catalogue.uploads.values()) {
    const good = placesOf(type, false).map((i) => idOf(sample.seed, type.type, i))
    await eventually(async () => {
      const rows = await analyst.query<{ id: string }>(
        `select toString(${type.id}) as id from weir.${viewOf(type.type)} where org_id = {org:String}`,
        { org: org.name },
      )
      expect(rows.map(({ id }) => id).sort()).toEqual(good.sort())
    })
  }
  await eventually(async () => {
    const [found] = await analyst.query<{ count: string }>(
      'select toString(count()) as count from weir.interactions where org_id = {org:String}',
      { org: org.name },
    )
    expect(Number(found?.count)).toBe(placesOf(catalogue.interaction, false).length)
  })

  const again = await upload([folder])
  expect(again.exitCode).toBe(3)
  expect(again.summary).toMatchObject({ sent: 0, refused: bad })
})

it('takes the refused rows once they are mended', async () => {
  const file = join(folder, 'transactions.csv.refused.csv')
  const columns = (await readFile(file, 'utf8')).split('\n')[0]?.split(',') ?? []
  const type = catalogue.uploads.get('transactions') as RecordType
  const lines = await linesOfRefused(join(folder, 'transactions.csv'))
  const mended = lines.map((line) => ({ weir_line: line, weir_code: 'x', ...recordAt(sample, type, line - 2) }))
  const cells = mended.map((record) => columns.map((name) => (record as Record<string, unknown>)[name] ?? '').join(','))
  await writeFile(file, [columns.join(','), ...cells, ''].join('\n'))
  const { exitCode, summary } = await upload([file])
  expect(summary).toMatchObject({ accepted: lines.length, refused: 0 })
  expect(exitCode).toBe(0)
})

it('says with its exit code what became of a file', async () => {
  const file = join(folder, 'tags-other.csv')
  await writeFile(file, `tag_id,name\n${idOf('tag', 1)},one\n${idOf('tag', 2)},two\n`)
  expect(await upload([file], { WEIR_KEY: 'weir_nobody' })).toMatchObject({
    exitCode: 5,
    summary: { accepted: 0, files: [{ state: 'stopped' }] },
  })
  expect((await upload([file, '--type', 'tugs'])).exitCode).toBe(2)
  const tried = await upload([file, '--dry-run'])
  expect(tried).toMatchObject({ exitCode: 0, summary: { accepted: 2 } })
  expect(await upload([file])).toMatchObject({ exitCode: 0, summary: { accepted: 2, sent: 2, skipped: 0 } })
  expect(await upload([file])).toMatchObject({ exitCode: 0, summary: { accepted: 2, sent: 0, skipped: 2 } })
  expect(await upload([file, '--restart'])).toMatchObject({ exitCode: 0, summary: { sent: 2 } })

  await writeFile(file, `tag_id,name\n${idOf('tag', 1)},one\nnobody,two\n`)
  const trial = await upload([file, '--trial', '1000'])
  expect(trial).toMatchObject({ exitCode: 3, summary: { codes: { bad_format: 1 } } })
  expect(trial.stderr).toMatch(
    /line 3: bad_format: tag_id must be a UUID[^\n]*\n {2}\{"tag_id":"nobody","name":"two"\}/,
  )
  expect(await upload([file])).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(/changed since.*--restart/) })
  expect((await upload([file, '--restart', '--max-errors', '0'])).exitCode).toBe(4)
})

it('takes standard input, gzipped too, and says that it cannot be resumed', async () => {
  const words = ['dist/clients/uploader/main.js', 'upload', '--json', '--type', 'tags', '-']
  const { stdout, stderr, exitCode } = await execa(process.execPath, words, {
    env: { WEIR_URL: system.edgeUrl, WEIR_KEY: org.key },
    input: gzipSync(`{"tag_id":"${idOf('tag', 3)}","name":"three"}\n`),
  })
  expect(exitCode).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ accepted: 1, sent: 1, files: [{ file: '-', state: 'finished' }] })
  expect(stderr).toMatch(/standard input cannot be resumed/)
})

itDeep('ends at Ctrl-C while the server is silent, and says how to go on', async () => {
  const many = sized(23_000, 60_000)
  await weir(['sample', '--shops', `${many}`, '--types', 'shops', '--seed', '8', '--out', join(folder, 'many')])
  const file = join(folder, 'many', 'shops.csv')
  // Eight requests are under way at most, so one of 2500 records has been answered when the ninth is sent.
  let requests = 0
  const silent = new EventEmitter()
  const isSilent = once(silent, 'now')
  const link = await openLinkTo(system.edgeUrl, {
    onSent: (bytes) => {
      if (bytes.toString('latin1', 0, 5) === 'POST ') requests += 1
      if (requests !== 9) return
      link.freeze()
      silent.emit('now')
    },
  })
  const running = weir(['upload', file], { WEIR_URL: link.url })
  await isSilent
  running.kill('SIGINT')
  const { exitCode, stderr } = await running
  expect(exitCode).toBe(130)
  expect(stderr).toMatch(/stopped; to go on where it stopped: npm run -s weir -- upload '/)
  // What was held back arrives as well, from a process that is gone.
  link.thaw()
  const { summary } = await upload([file], { WEIR_URL: link.url })
  await link.close()
  expect(summary).toMatchObject({ accepted: many, refused: 0 })
  expect(summary.skipped).toBeGreaterThan(0)
  expect(summary.sent + summary.skipped).toBe(many)
})

it('takes Parquet, group by group, gzipped too, and keeps its refused records as NDJSON', async () => {
  const statement = `
    select generateUUIDv4(number) as shop_id, concat('Shop ', toString(number)) as name,
      if(number = 77, 'Great Britain', 'GB') as region, toNullable(true) as is_public, now64(3, 'UTC') as created,
      toInt64(number) as number
    from numbers(250)
    format Parquet settings output_format_parquet_row_group_size = 100, max_block_size = 100`
  const answer = await fetch(new URL('/', new URL(system.env.CLICKHOUSE_URL ?? '').origin), {
    method: 'POST',
    body: statement,
    headers: authorisation(),
  })
  const parquet = Buffer.from(await answer.arrayBuffer())
  expect(answer.status, parquet.toString()).toBe(200)
  const plain = join(folder, 'shops-export.parquet')
  await writeFile(plain, parquet)
  await writeFile(`${plain}.gz`, gzipSync(parquet))

  const rowsFrom = async (file: string, offset: number) => {
    const rows: Row[] = []
    const { blocks } = await openRows(file, await formOf(file), { offset, line: offset + 1 })
    for await (const block of blocks) rows.push(...block)
    return rows
  }
  const whole = await rowsFrom(plain, 0)
  expect(whole.map(({ line, end }) => [line, end])).toEqual(Array.from({ length: 250 }, (_, i) => [i + 1, i + 1]))
  expect(await rowsFrom(`${plain}.gz`, 130)).toEqual(whole.slice(130))

  for (const file of [plain, `${plain}.gz`]) {
    const refused = `${file}.refused.ndjson`
    expect(await upload([file, '--skip-unknown'])).toMatchObject({
      exitCode: 3,
      summary: { accepted: 249, refused: 1, codes: { bad_format: 1 }, files: [{ refused_file: refused }] },
    })
    expect(JSON.parse(await readFile(refused, 'utf8'))).toMatchObject({
      number: 77,
      weir_line: 78,
      weir_field: 'region',
    })
  }
})

/** fetch takes no user in an address. */
const authorisation = (): Record<string, string> => {
  const { username, password } = new URL(system.env.CLICKHOUSE_URL ?? '')
  return username ? { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password } : {}
}
