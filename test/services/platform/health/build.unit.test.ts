import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readBuild } from '../../../../services/platform/health/build.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-build-'))
  writeFileSync(join(folder, 'package.json'), '{ "version": "1.2.3" }')
})
afterEach(() => rmSync(folder, { recursive: true }))

const git = (...words: string[]) =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...words], { cwd: folder, encoding: 'utf8' }).trim()

it('says the commit that the build of the image wrote', () => {
  writeFileSync(join(folder, 'commit'), 'abc123\n')
  expect(readBuild(folder)).toEqual({ version: '1.2.3', commit: 'abc123' })
})

it('asks git in a clone', () => {
  git('init', '-q')
  git('commit', '-q', '--allow-empty', '-m', 'first')
  expect(readBuild(folder)).toEqual({ version: '1.2.3', commit: git('rev-parse', 'HEAD') })
})

it('does not take the commit of a repository around it for its own', () => {
  git('init', '-q')
  git('commit', '-q', '--allow-empty', '-m', 'first')
  const inside = join(folder, 'inside')
  mkdirSync(inside)
  writeFileSync(join(inside, 'package.json'), '{ "version": "1.2.3" }')
  expect(readBuild(inside)).toEqual({ version: '1.2.3', commit: 'unknown' })
})

it('says unknown where a repository has no commit', () => {
  git('init', '-q')
  expect(readBuild(folder)).toEqual({ version: '1.2.3', commit: 'unknown' })
})
