import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { claimFile } from '../../../../deploy/embedded/supervision/claim-file.mjs'
import { identityOf } from '../../../../deploy/embedded/supervision/process-identity.mjs'

let folder: string
let file: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-claim-'))
  file = join(folder, 'claim.json')
})

afterEach(() => rmSync(folder, { recursive: true }))

const claim = () => {
  const claimed = claimFile(file)
  if (claimed.holder) throw new Error(`held by process ${claimed.holder.pid}`)
  return claimed
}

it('gives a file to one process at a time, and names that process to the others', () => {
  const { release } = claim()
  expect(claimFile(file).holder).toEqual({ pid: process.pid, identity: identityOf(process.pid) })
  release()
  claim().release()
  expect(readdirSync(folder)).toEqual([])
})

it.each([
  ['a process whose id belongs to a later one', JSON.stringify({ pid: process.pid, identity: 'an earlier start' })],
  ['a process that is gone', JSON.stringify({ pid: 2 ** 30, identity: 'any start' })],
  ['nobody, emptied by a power failure', ''],
  ['nobody, cut short', '{"pid":'],
  ['nobody, in a form that an earlier Weir wrote', '4711 123456'],
  ['nobody at all', 'null'],
])('takes over the claim of %s', (_, stale) => {
  writeFileSync(file, stale)
  claim()
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid })
  expect(readdirSync(folder)).toEqual(['claim.json'])
})

it('does not release what another process has claimed meanwhile', () => {
  const { release } = claim()
  const another = JSON.stringify({ pid: 1, identity: 'another' })
  writeFileSync(file, another)
  release()
  expect(readFileSync(file, 'utf8')).toBe(another)
})

it('gives a stale claim to one of many processes that find it together', async () => {
  writeFileSync(file, JSON.stringify({ pid: process.pid, identity: 'an earlier start' }))
  const script = `
    const { claimFile } = await import('./deploy/embedded/supervision/claim-file.mjs')
    process.stdout.write(claimFile(${JSON.stringify(file)}).holder ? 'held' : 'mine')
    setInterval(() => {}, 1000)`
  const children = Array.from({ length: 6 }, () => spawn(process.execPath, ['--input-type=module', '-e', script]))
  try {
    const answers = await Promise.all(children.map(async ({ stdout }) => String((await once(stdout, 'data'))[0])))
    expect(answers.sort()).toEqual(['held', 'held', 'held', 'held', 'held', 'mine'])
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
})
