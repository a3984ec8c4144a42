import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { packageRoot } from '../../../services/platform/process/package-root.js'
import { cloneInto } from '../../support/clone.js'

it('prepares one version after another, each with its contracts, and with what a field came with', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-prepare-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  await cloneInto(folder)
  for (const name of ['CHANGELOG.md', 'docker-compose.yml']) cpSync(join(packageRoot, name), join(folder, name))
  const read = (path: string) => readFileSync(join(folder, path), 'utf8')
  const prepare = (version: string) =>
    execFileSync('node_modules/.bin/tsx', ['--conditions=source', 'deploy/release/main.ts', 'prepare', version], {
      cwd: folder,
    })
  prepare('12.3.0')
  expect(read('schemas/released/12.3.0.json')).toContain('"info":{"version":"12.3.0"')
  expect(read('schemas/derive/type-reference/field-versions.ts')).toContain("tag_id: '12.3.0'")
  const tag = read('schemas/records/tag.ts')
  const withColour = tag.replace(/^ {4}\.\.\.lifecycle/m, "    colour: optional(text('its colour')),\n    ...lifecycle")
  writeFileSync(join(folder, 'schemas/records/tag.ts'), `import { optional } from '../field.js'\n${withColour}`)
  // A version of which the changelog says nothing cannot be released.
  const changelog = read('CHANGELOG.md').replace('## [Unreleased]\n', '## [Unreleased]\n\n- Tags have a colour.\n')
  writeFileSync(join(folder, 'CHANGELOG.md'), changelog)
  prepare('12.4.0')
  const versions = read('schemas/derive/type-reference/field-versions.ts')
  expect(versions).toMatch(/\n {4}tags: \{\n {6}tag_id: '12\.3\.0',\n[^}]* {6}colour: '12\.4\.0',\n/)
})
