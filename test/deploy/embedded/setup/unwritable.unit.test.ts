import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'

let clone: string

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'weir-clone-'))
  for (const name of ['deploy', 'package.json', 'package-lock.json'])
    cpSync(join(packageRoot, name), join(clone, name), { recursive: true })
  // As after npm ci, so that the build is the only step that is needed.
  mkdirSync(join(clone, 'node_modules'))
  cpSync(join(packageRoot, 'package-lock.json'), join(clone, 'node_modules/.package-lock.json'))
  for (const name of ['.parts', 'dist']) mkdirSync(join(clone, name))
  for (const name of ['.', '.parts', 'dist', 'node_modules']) chmodSync(join(clone, name), 0o777)
})

afterEach(() => {
  for (const name of ['.', '.parts', 'dist', 'node_modules']) chmodSync(join(clone, name), 0o777)
  rmSync(clone, { recursive: true })
})

// Root may write anywhere, so as root the set-up is tried as nobody.
const asNobody = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []

const start = async (): Promise<string> => {
  const [command = '', ...args] = [...asNobody, process.execPath, join(clone, 'deploy/embedded/start.mjs')]
  // With these two given, no Java is needed.
  const env = { KAFKA_BROKERS: '127.0.0.1:1', SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1' }
  const { exitCode, stderr, stdout } = await execa(command, args, { env, reject: false })
  expect([exitCode, stdout]).toEqual([1, ''])
  return stderr.trim()
}

it.each(['.', '.parts', 'dist', 'node_modules'])(
  'says in one line what to do when %s cannot be written',
  async (name) => {
    if (name === 'node_modules') rmSync(join(clone, 'node_modules/.package-lock.json'))
    chmodSync(join(clone, name), 0o555)
    expect(await start()).toBe(
      `Weir cannot be set up: ${join(clone, name)} cannot be used: it may not be written to. ` +
        `Make it yours (sudo chown -R "$(id -u)" ${clone}) and run the same command again.`,
    )
  },
)

it('names another disk when this one is read-only, and the same words when a step finds out', async () => {
  const { diskFailure } = await import(join(packageRoot, 'deploy/embedded/setup/writable.mjs'))
  const failure = diskFailure(Object.assign(new Error('EROFS: …'), { code: 'EROFS', path: '/mnt/weir/dist.next' }))
  expect(failure.message).toMatch(
    /^Weir cannot be set up: \/mnt\/weir\/dist.next cannot be used: the disk is read-only. Copy it to another disk \(cp -r \S+ ~\/weir\)/,
  )
  expect(diskFailure(new TypeError('a fault of ours'))).toBeUndefined()
})
