// The uploader, the edge, integrity and Kafka are killed again and again while a large file is uploaded. UPLOAD_ROWS=1000000 makes it
// the size that nobody uploads twice.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { execa } from 'execa'
import { afterAll, expect, it } from 'vitest'
import { idOf } from '../../clients/uploader/sample/chance.js'
import { isBroken, type Sample } from '../../clients/uploader/sample/records.js'
import type { Summary } from '../../clients/uploader/tell/summary.js'
import { uploaderFlags } from '../../deploy/embedded/run-uploader.mjs'
import { eventually } from '../support/eventually.js'
import { kill, pidOf } from '../support/system/processes.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'

const rows = Number(process.env.UPLOAD_ROWS ?? 100_000)
const seed = 9
const sample: Sample = { seed, broken: 0.02, amounts: { shops: rows } }
const folder = await mkdtemp(join(tmpdir(), 'weir fire '))
afterAll(() => rm(folder, { recursive: true, force: true }))
const file = join(folder, 'shops.csv')
const org = await newOrganisation('upload-under-fire')

const weir = (words: string[]) =>
  execa(process.execPath, [...uploaderFlags, 'dist/clients/uploader/main.js', ...words], {
    env: { WEIR_URL: system.edgeUrl, WEIR_KEY: org.key },
    reject: false,
  })
type Running = ReturnType<typeof weir>

/** The most memory that a process has had, in megabytes; 0 where the system does not tell. */
const peakOf = async (pid: number | undefined): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1000
}

const answeredIn = async (): Promise<number> =>
  (await readFile(`${file}.weir-journal`, 'utf8').catch(() => '')).split('\n').length

it(`loses and doubles none of ${rows} rows, whatever is killed`, async () => {
  await weir([
    'sample',
    '--shops',
    `${rows}`,
    '--types',
    'shops',
    '--seed',
    `${seed}`,
    '--broken',
    '2%',
    '--out',
    folder,
  ])
  let isOver = false
  const killServices = async (): Promise<void> => {
    for (let turn = 0; !isOver; turn++) {
      const name = ['edge', 'integrity', 'kafka'][turn % 3] ?? 'edge'
      const killed = kill(name)
      await eventually(() => expect(pidOf(name)).not.toBe(killed), 60_000)
      await eventually(async () => expect((await fetch(`${system.edgeUrl}/readyz`)).status).toBe(200), 60_000)
      await wait(2000)
    }
  }
  let peak = 0
  const watch = async (running: Running): Promise<void> => {
    for (;;) {
      peak = Math.max(peak, await peakOf(running.pid))
      if (running.exitCode !== null || running.killed) return
      await wait(100)
    }
  }
  const services = killServices()
  try {
    for (let kills = 0; kills < 5; kills++) {
      const before = await answeredIn()
      const running = weir(['upload', file])
      const watching = watch(running)
      // Each run gets a little further, so that each is killed in another place.
      await eventually(
        async () => expect(running.exitCode !== null || (await answeredIn()) > before + 2).toBe(true),
        120_000,
      )
      running.kill('SIGKILL')
      await running
      await watching
    }
    const last = weir(['upload', '--json', file])
    const watching = watch(last)
    const { stdout, stderr, exitCode } = await last
    await watching
    expect(exitCode, stderr).toBe(3)
    const bad = Array.from({ length: rows }, (_, i) => i).filter((i) => isBroken(sample, 'shops', i))
    const summary = JSON.parse(stdout) as Summary
    expect(summary).toMatchObject({ accepted: rows - bad.length, refused: bad.length, files: [{ state: 'finished' }] })
    const refused = parse(await readFile(`${file}.refused.csv`), { columns: true }) as { weir_line: string }[]
    expect(refused.map(({ weir_line }) => Number(weir_line)).sort((a, b) => a - b)).toEqual(bad.map((i) => i + 2))
    expect(peak).toBeLessThan(200)
  } finally {
    isOver = true
    await services
  }

  const good = new Set<string>()
  for (let i = 0; i < rows; i++) if (!isBroken(sample, 'shops', i)) good.add(idOf(seed, 'shops', i))
  await eventually(async () => {
    const found = await analyst.query<{ id: string }>(
      'select toString(shop_id) as id from weir.shops where org_id = {org:String}',
      { org: org.name },
    )
    expect(found.length).toBe(good.size)
    expect(found.filter(({ id }) => !good.has(id))).toEqual([])
  }, 120_000)
}, 1_800_000)
