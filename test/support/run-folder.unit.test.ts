import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makeRunFolder } from './run-folder.mjs'

// Writes into its TMPDIR until its parent is gone, and for a moment longer: as Kafka does when vitest is interrupted.
const part = `
  const { mkdirSync, writeFileSync } = require('node:fs')
  const folder = process.env.TMPDIR + '/part'
  mkdirSync(folder)
  setInterval(() => writeFileSync(folder + '/' + process.hrtime.bigint(), ''), 1)
  process.stdin.resume().on('end', () => setTimeout(() => process.exit(0), 300))
  console.log('up')`

it('is removed with all that is in it, once the processes that use it have ended', async () => {
  const { folder, remove } = makeRunFolder()
  const child = spawn(process.execPath, ['-e', part], { env: { ...process.env, TMPDIR: folder } })
  const ended = once(child, 'exit')
  await once(child.stdout, 'data')
  expect(existsSync(join(folder, 'part'))).toBe(true)
  child.stdin.end()
  await remove()
  expect(await ended).toEqual([0, null])
  expect(existsSync(folder)).toBe(false)
})
