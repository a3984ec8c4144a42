import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { createDataCopy } from '../../../../deploy/embedded/backup/copy-data.js'
import { listData } from '../../../../deploy/embedded/backup/data-tree.js'
import { makeBackup } from '../../../../deploy/embedded/backup/make-backup.js'
import { manifestFile, readManifest } from '../../../../deploy/embedded/backup/manifest.js'
import { putInPlace, restoredIn } from '../../../../deploy/embedded/backup/put-in-place.js'
import { restoreBackup } from '../../../../deploy/embedded/backup/restore-backup.js'
import { claimDataFolder } from '../../../../deploy/embedded/launcher/running-system.js'
import { postgresMajor } from '../../../../deploy/embedded/servers/postgres.js'

let [home, dataDir, folder, other] = ['', '', '', '']
const say = () => {}
const major = await postgresMajor()

const write = (path: string, text: string) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'weir-backup-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  ;[dataDir, folder, other] = ['data', 'backup', 'other'].map((name) => join(home, name)) as [string, string, string]
  const log = 'kafka/log/weir.accepted.shops-0/000000000000000000'
  for (const [path, text] of Object.entries({
    [`${log}00.log`]: 'closed',
    [`${log}00.index`]: 'of the closed one',
    [`${log}20.log`]: 'open',
    [`${log}20.index`]: 'of the open one',
    [`${log}20.timeindex`]: 'of the open one',
    'postgres/cluster/PG_VERSION': `${major}\n`,
    'postgres/cluster/postmaster.pid': '1',
    'registry/registry.mv.db': 'schemas',
    'clickhouse/engine/store/a/data.bin': 'rows',
    'clickhouse/spool/upload': 'under way',
    'clickhouse-password': 'secret',
    'demo-key': 'key',
    'logs/edge.log': 'lines',
  }))
    write(join(dataDir, path), text)
  mkdirSync(join(dataDir, 'postgres/cluster/pg_notify'))
  symlinkSync('store/a', join(dataDir, 'clickhouse/engine/weir'))
})

it('brings back what was there, empty folders and links too, and leaves out what a start makes anew', async () => {
  const manifest = await makeBackup(dataDir, folder, say)
  expect(manifest).toMatchObject({ paused_ms: 0, postgres: major, files: 8 })
  await restoreBackup(other, folder, { aside: false, say })
  const isIn = (path: string) => existsSync(join(other, path))
  expect(readFileSync(join(other, 'clickhouse/engine/weir/data.bin'), 'utf8')).toBe('rows')
  expect(readFileSync(join(other, 'demo-key'), 'utf8')).toBe('key')
  expect(isIn('postgres/cluster/pg_notify')).toBe(true)
  expect(listData(other).map(({ path }) => path)).toEqual(listData(dataDir).map(({ path }) => path))
  const log = 'kafka/log/weir.accepted.shops-0/000000000000000000'
  expect([`${log}00.index`, `${log}20.log`].every(isIn)).toBe(true)
  const anew = [
    `${log}20.index`,
    `${log}20.timeindex`,
    'postgres/cluster/postmaster.pid',
    'clickhouse/spool',
    'logs/edge.log',
  ]
  expect(anew.filter(isIn)).toEqual([])
})

it('copies in each round what has changed since, and removes what is gone', async () => {
  const copy = createDataCopy(dataDir, folder)
  await copy.round()
  appendFileSync(join(dataDir, 'registry/registry.mv.db'), ' and more')
  rmSync(join(dataDir, 'clickhouse/engine/store'), { recursive: true })
  write(join(dataDir, 'clickhouse/engine/store/b/data.bin'), 'merged')
  await copy.round()
  expect(readFileSync(join(folder, 'registry/registry.mv.db'), 'utf8')).toBe('schemas and more')
  expect(existsSync(join(folder, 'clickhouse/engine/store/a'))).toBe(false)
  expect(readFileSync(join(folder, 'clickhouse/engine/store/b/data.bin'), 'utf8')).toBe('merged')
})

it('refuses a folder that is not empty, lies in the data folder, or has no data to copy from', async () => {
  write(join(folder, 'something'), '')
  await expect(makeBackup(dataDir, folder, say)).rejects.toThrow('is not empty')
  await expect(makeBackup(dataDir, join(dataDir, 'backup'), say)).rejects.toThrow('lies in the data folder')
  rmSync(join(dataDir, 'postgres'), { recursive: true })
  await expect(makeBackup(dataDir, join(home, 'new'), say)).rejects.toThrow('has no data of postgres')
})

it('refuses to restore what was interrupted, damaged, or made by another Postgres', async () => {
  const restore = () => restoreBackup(other, folder, { aside: false, say })
  await makeBackup(dataDir, folder, say)
  const whole = readFileSync(manifestFile(folder), 'utf8')
  writeFileSync(manifestFile(folder), whole.replace(`"postgres": "${major}"`, '"postgres": "9"'))
  await expect(restore()).rejects.toThrow(
    `with Postgres 9, and Weir ${readManifest(folder).version} has Postgres ${major}`,
  )
  writeFileSync(manifestFile(folder), whole.replace('"format": 1', '"format": 99'))
  await expect(restore()).rejects.toThrow('in a form that Weir')
  writeFileSync(manifestFile(folder), whole)
  writeFileSync(join(folder, 'data/demo-key'), 'kee')
  await expect(restore()).rejects.toThrow('data/demo-key is not what it was')
  rmSync(join(folder, 'data/demo-key'))
  await expect(restore()).rejects.toThrow('data/demo-key is missing')
  rmSync(manifestFile(folder))
  await expect(restore()).rejects.toThrow('it is no backup, or one that was interrupted')
  expect(existsSync(join(other, 'kafka'))).toBe(false)
})

it('refuses to restore over data unless it is put aside, and while the system runs', async () => {
  await makeBackup(dataDir, folder, say)
  writeFileSync(join(dataDir, 'demo-key'), 'newer')
  await expect(restoreBackup(dataDir, folder, { aside: false, say })).rejects.toThrow('put it aside with --aside')
  const release = claimDataFolder(dataDir)
  await expect(restoreBackup(dataDir, folder, { aside: true, say })).rejects.toThrow(
    'Weir already runs with the data folder',
  )
  release()
  const { aside = '' } = await restoreBackup(dataDir, folder, { aside: true, say })
  expect(readFileSync(join(dataDir, 'demo-key'), 'utf8')).toBe('key')
  expect(readFileSync(join(aside, 'demo-key'), 'utf8')).toBe('newer')
})

it('ends a restore that was killed between two of its moves, without losing what was there', () => {
  // Killed when kafka was in its place and demo-key was not.
  write(join(dataDir, 'before-restore-1/kafka/log'), 'old')
  write(join(restoredIn(dataDir), 'demo-key'), 'restored')
  const { aside = '' } = putInPlace(dataDir)
  expect(readFileSync(join(dataDir, 'demo-key'), 'utf8')).toBe('restored')
  expect(readFileSync(join(aside, 'demo-key'), 'utf8')).toBe('key')
  expect(existsSync(restoredIn(dataDir))).toBe(false)
})
