import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { type RunningEngine, startEngine } from './running-engine.js'

// A disk that refuses what an engine has begun to write: one on which no file may be longer than 32 or 64 KiB, as the shell counts.
const onSmallFiles = ['sh', '-c', 'ulimit -f 64 && exec "$@"', 'sh']

let folder: string
let engine: RunningEngine
let clickhouse: ReturnType<typeof createClickHouse>

const start = async (before: readonly string[] = []) => {
  engine = await startEngine(folder, {}, before)
  clickhouse = createClickHouse(engine.ownUrl)
}
/** Rows that cannot be packed, of 1000 bytes each. */
const insert = (rows: number) =>
  clickhouse.command(`insert into things select generateUUIDv4(), randomString(1000) from numbers(${rows})`)
const rows = async () => {
  const [found] = await clickhouse.query<{ rows: number; bytes: number }>(
    'select toUInt32(count()) as rows, toUInt32(sum(length(text))) as bytes from things',
  )
  return found
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-refused-'))
  await start()
  // Two parts alone are merged by nobody but the test.
  await clickhouse.command(
    'create table things (id UUID, text String) engine = MergeTree order by id settings min_parts_to_merge_at_once = 5',
  )
  // Each fits, both together do not.
  await insert(20)
  await insert(20)
})
afterAll(async () => {
  await clickhouse.close()
  await engine.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

it.for([
  ['an insert', () => insert(200)],
  ['a merge', () => clickhouse.command('optimize table things final')],
] as const)(
  'never says that %s is done which the disk refused, and has all that it had before',
  { timeout: 60_000 },
  async ([, write]) => {
    await clickhouse.close()
    await engine.kill('SIGTERM')
    await start(onSmallFiles)
    expect(await rows()).toEqual({ rows: 40, bytes: 40_000 })
    await expect(write()).rejects.toThrow()
    expect(await engine.ended).toBe('SIGKILL')

    await clickhouse.close()
    await start()
    expect(await rows()).toEqual({ rows: 40, bytes: 40_000 })
  },
)

it('keeps what was merged for longer than it takes to find out that a write was refused', async () => {
  const lifetime = "select value from system.merge_tree_settings where name = 'old_parts_lifetime'"
  expect(await clickhouse.query(lifetime)).toEqual([{ value: '60' }])
})

it('takes the same on a disk that has room', async () => {
  await insert(200)
  await clickhouse.command('optimize table things final')
  expect(await rows()).toEqual({ rows: 240, bytes: 240_000 })
})

it('removes parts that were left out because they were broken, a week later, and nothing else', async () => {
  const [table] = await clickhouse.query<{ data_paths: string[] }>(
    "select data_paths from system.tables where name = 'things'",
  )
  const detached = join(table?.data_paths[0] ?? '', 'detached')
  const parts = ['broken-on-start_all_901_901_0', 'broken-on-start_all_902_902_0', 'all_903_903_0']
  for (const part of parts) await mkdir(join(detached, part), { recursive: true })
  const days = (count: number) => new Date(Date.now() - count * 86_400_000)
  await utimes(join(detached, parts[0] ?? ''), days(8), days(8))
  await utimes(join(detached, parts[1] ?? ''), days(6), days(6))
  await utimes(join(detached, parts[2] ?? ''), days(8), days(8))
  await clickhouse.close()
  await engine.kill('SIGTERM')
  await start()
  const left = await readdir(detached)
  expect(parts.map((part) => left.includes(part))).toEqual([false, true, true])
})
