// The uploader, the edge, integrity and Kafka are killed again and again while a large file, or a folder, is uploaded.
// UPLOAD_ROWS=1000000 makes it the size that nobody uploads twice.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { execa } from 'execa'
import { afterAll, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { viewOf } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import type { Summary } from '../../clients/uploader/report/summary.js'
import { uploaderFlags } from '../../deploy/embedded/run-uploader.mjs'
import { idOf } from '../../schemas/samples/chance.js'
import { amountsFor, isBroken, type Sample } from '../../schemas/samples/records.js'
import { eventually } from '../support/eventually.js'
import { isDeep, sized } from '../support/sized.js'
import { killServicesUntil } from '../support/system/processes.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'

const rows = Number(process.env.UPLOAD_ROWS ?? sized(8_000, 100_000))
// A customer comes with about seven rows of other types.
const customers = Math.ceil(rows / 100)
const pauseMs = 2_000
// Interactions are sent one by one: between two kills, some of them have to get through.
const pauseOfFolderMs = 10_000
const seed = 9
const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

const createUploader = (key: string) => (words: string[]) =>
  execa(process.execPath, [...uploaderFlags, 'dist/clients/uploader/main.js', ...words], {
    env: { WEIR_URL: system.edgeUrl, WEIR_KEY: key },
    reject: false,
  })
type Weir = ReturnType<typeof createUploader>

/** The most memory that a process has had, in megabytes; 0 where the system does not tell. */
const peakOf = async (pid: number | undefined): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1000
}

/** How many chunks of all files in this folder are answered. */
const answeredIn = async (folder: string): Promise<number> => {
  const journals = (await readdir(folder)).filter((name) => name.endsWith('.weir-journal'))
  const texts = await Promise.all(journals.map((name) => readFile(join(folder, name), 'utf8').catch(() => '')))
  return texts.reduce((sum, text) => sum + text.split('\n').length, 0)
}

/** Uploads what is in the folder, whatever is killed meanwhile, the uploader itself several times. */
const uploadUnderFire = async (weir: Weir, folder: string, path: string, pause: number) => {
  let isOver = false
  let peak = 0
  const watch = async (running: ReturnType<Weir>): Promise<void> => {
    for (;;) {
      peak = Math.max(peak, await peakOf(running.pid))
      if (running.exitCode !== null || running.killed) return
      await wait(100)
    }
  }
  const services = killServicesUntil(() => isOver, pause)
  try {
    for (let kills = 0; kills < sized(2, 5); kills++) {
      const before = await answeredIn(folder)
      const running = weir(['upload', path])
      const watching = watch(running)
      // Each run gets a little further, so that each is killed in another place.
      await eventually(
        async () => expect(running.exitCode !== null || (await answeredIn(folder)) > before + 2).toBe(true),
        120_000,
      )
      running.kill('SIGKILL')
      await running
      await watching
    }
    const last = weir(['upload', '--json', path])
    const watching = watch(last)
    const { stdout, stderr, exitCode } = await last
    await watching
    expect(exitCode, stderr).toBe(3)
    expect(peak).toBeLessThan(200)
    return JSON.parse(stdout) as Summary
  } finally {
    isOver = true
    await services
  }
}

const makeSample = async (weir: Weir, words: string[]): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'weir fire '))
  folders.push(folder)
  await weir(['sample', ...words, '--seed', `${seed}`, '--broken', '2%', '--out', folder])
  return folder
}

const placesOf = (sample: Sample, { type }: RecordType, broken: boolean): number[] =>
  Array.from({ length: sample.amounts[type] ?? 0 }, (_, i) => i).filter((i) => isBroken(sample, type, i) === broken)

/** Each bad row is in the refused file once, with its line; each good one in ClickHouse once. */
const expectEachOnce = async (org: string, folder: string, sample: Sample, type: RecordType): Promise<void> => {
  const text = await readFile(join(folder, `${type.type}.csv.refused.csv`), 'utf8').catch(() => '')
  const refused = parse(text, { columns: true }) as { weir_line: string }[]
  const lines = refused.map(({ weir_line }) => Number(weir_line)).sort((a, b) => a - b)
  expect(lines, type.type).toEqual(placesOf(sample, type, true).map((i) => i + 2))

  const good = placesOf(sample, type, false)
  const isInteraction = type === catalogue.interaction
  const ids = new Set(isInteraction ? [] : good.map((i) => idOf(seed, type.type, i)))
  await eventually(async () => {
    const found = await analyst.query<{ id: string }>(
      `select toString(${type.id}) as id from weir.${viewOf(type.type)} where org_id = {org:String}`,
      { org },
    )
    expect(found.length, type.type).toBe(good.length)
    // The service itself gives an interaction its id.
    if (!isInteraction) expect(found.filter(({ id }) => !ids.has(id))).toEqual([])
  })
}

it(`loses and doubles none of ${rows} rows, whatever is killed`, async () => {
  const org = await newOrganisation('upload-under-fire')
  const weir = createUploader(org.key)
  const sample: Sample = { seed, broken: 0.02, amounts: { shops: rows } }
  const folder = await makeSample(weir, ['--shops', `${rows}`, '--types', 'shops'])
  const summary = await uploadUnderFire(weir, folder, join(folder, 'shops.csv'), pauseMs)
  const shops = catalogue.uploads.get('shops') as RecordType
  const refused = placesOf(sample, shops, true).length
  expect(summary).toMatchObject({ accepted: rows - refused, refused, files: [{ state: 'finished' }] })
  await expectEachOnce(org.name, folder, sample, shops)
}, 1_800_000)

// upload-files.e2e.test.ts kills the uploader of a folder in every run.
if (isDeep)
  it('nor any row of a folder of all types', async () => {
    const org = await newOrganisation('folder-under-fire')
    const weir = createUploader(org.key)
    const sample: Sample = { seed, broken: 0.02, amounts: amountsFor(customers) }
    const folder = await makeSample(weir, ['--customers', `${customers}`])
    const summary = await uploadUnderFire(weir, folder, folder, pauseOfFolderMs)
    expect(summary.files.map(({ type, state }) => [type, state])).toEqual(
      [...catalogue.all.keys()].map((type) => [type, 'finished']),
    )
    for (const type of catalogue.all.values()) await expectEachOnce(org.name, folder, sample, type)
  }, 1_800_000)
