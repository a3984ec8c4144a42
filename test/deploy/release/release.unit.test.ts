import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { changelogPart, releaseChangelog } from '../../../deploy/release/changelog.js'
import { refusals } from '../../../deploy/release/refusals.js'
import { setVersion, versionProblems, versionsNamed } from '../../../deploy/release/versions.js'
import { packageRoot } from '../../../services/platform/process/package-root.js'

it('names one version everywhere', () => {
  expect(versionProblems()).toEqual([])
  expect(versionsNamed().find(({ versions }) => versions.length === 4)?.file).toBe('package-lock.json')
})

it('writes a new version everywhere, and finds a place that has another one', () => {
  const copy = mkdtempSync(join(tmpdir(), 'weir-versions-'))
  onTestFinished(() => rmSync(copy, { recursive: true }))
  for (const { file } of versionsNamed()) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(packageRoot, file), join(copy, file))
  }
  setVersion('12.34.5', copy)
  expect(new Set(versionsNamed(copy).flatMap(({ versions }) => versions))).toEqual(new Set(['12.34.5']))
  expect(versionProblems(copy)).toEqual([])
  const compose = join(copy, 'docker-compose.yml')
  writeFileSync(compose, readFileSync(compose, 'utf8').replace('weir:12.34.5', 'weir:1.0.0'))
  expect(versionProblems(copy)).toEqual(['docker-compose.yml says 1.0.0, package.json 12.34.5'])
})

const good = {
  version: '0.2.0',
  changed: [],
  tags: ['v0.2.0'],
  versionProblems: [],
  changelogPart: 'text',
  hasContracts: true,
  isDryRun: false,
}

it('makes a release of a clean, tagged clone', () => expect(refusals(good)).toEqual([]))

it.each([
  [{ changed: ['package.json'] }, 'changes that no commit has: package.json'],
  [{ tags: [] }, 'has no tag v0.2.0'],
  [{ tags: ['v0.1.0'] }, 'has no tag v0.2.0'],
  [{ versionProblems: ['docker-compose.yml says 0.1.0, package.json 0.2.0'] }, 'docker-compose.yml says 0.1.0'],
  [{ changelogPart: undefined }, 'CHANGELOG.md has no part "## [0.2.0]"'],
  [{ hasContracts: false }, 'schemas/released has no 0.2.0.json'],
])('refuses one that has %o', (wrong, problem) => {
  expect(refusals({ ...good, ...wrong })).toEqual([expect.stringContaining(problem)])
})

it('tries it out on a clone that is neither clean nor tagged', () => {
  expect(refusals({ ...good, changed: ['x'], tags: [], isDryRun: true })).toEqual([])
})

it('takes the part of a version out of the changelog', () => {
  const changelog =
    '# Changelog\n\nIntro\n\n## [Unreleased]\n\n### Added\n\n- new\n\n## [0.1.0] - 2026-01-01\n\n- first\n'
  expect(changelogPart(changelog, '0.1.0')).toBe('- first')
  expect(changelogPart(changelog, '0.2.0')).toBeUndefined()
  const released = releaseChangelog(changelog, '0.2.0', '2026-02-01')
  expect(changelogPart(released, 'Unreleased')).toBeUndefined()
  expect(changelogPart(released, '0.2.0')).toBe('### Added\n\n- new')
  expect(released).toContain('## [Unreleased]\n\n## [0.2.0] - 2026-02-01\n')
})
