import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { eventually } from './eventually.js'
import { diskOrSkip, openSmallDisk } from './small-disk.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir's small disk "))
  vi.stubEnv('TMPDIR', folder)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})

it('says in one line why it cannot be mounted, skips the test with that, and leaves nothing behind', async () => {
  vi.stubEnv('PATH', folder)
  const none = await openSmallDisk(1)
  expect(none).toEqual({ whyNot: expect.stringMatching(/^no disk to fill: .+$/) })
  expect(readdirSync(folder)).toEqual([])
  const skip = vi.fn<(note?: string) => never>()
  diskOrSkip(none, { skip: skip as never })
  expect(skip).toHaveBeenCalledWith('whyNot' in none && none.whyNot)
})

const program = `
  import { openSmallDisk } from './test/support/small-disk.ts'
  const disk = await openSmallDisk(1)
  console.log(JSON.stringify(disk))
  setInterval(() => {}, 1000)`

it('is gone when the process that opened it is killed', async (test) => {
  const holder = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said] = await once(holder.stdout, 'data')
  const disk = JSON.parse(String(said))
  const ended = once(holder, 'exit')
  holder.kill('SIGKILL')
  await ended
  diskOrSkip(disk, test)
  await eventually(() => expect(readdirSync(folder).filter((name) => name.startsWith('weir-disk-'))).toEqual([]))
  expect(await readFile('/proc/mounts', 'utf8')).not.toContain(folder)
})
