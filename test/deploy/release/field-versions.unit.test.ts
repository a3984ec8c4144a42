import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { releasedContracts, releasedVersions } from '../../../deploy/release/contracts.js'
import { fieldVersionsFile, fieldVersionsPath, releasedFieldVersions } from '../../../deploy/release/field-versions.js'
import { packageRoot } from '../../../services/platform/process/package-root.js'

const read = (path: string) => readFileSync(join(packageRoot, path), 'utf8')
const released = (...versions: string[]) =>
  versions.map((version) => `## [${version}] - 2026-01-31\n\n- more\n`).join('\n')

it('has committed what the contracts of released versions say; if not: npm run publish-schemas', () => {
  expect(read(fieldVersionsPath)).toBe(fieldVersionsFile(releasedFieldVersions(catalogue, read('CHANGELOG.md'))))
})

it('takes contracts for released only once the changelog says so', () => {
  const [version = ''] = releasedVersions()
  expect(releasedFieldVersions(catalogue, '## [Unreleased]\n\n- all\n')).toEqual({ first: null, of: {} })
  const { first, of } = releasedFieldVersions(catalogue, released(version))
  expect(first).toBe(version)
  expect(of.shops).toMatchObject({ shop_id: version, name: version })
  expect(of['shop-tags']).toMatchObject({ tag_id: version })
  expect(of.interactions).toMatchObject({ item_id: version })
})

it('writes down what a field came with, as a file that the linter takes', () => {
  const later = (version: string) => {
    const { openapi } = structuredClone(releasedContracts(releasedVersions()[0] ?? ''))
    const { schemas } = openapi.components as { schemas: Record<string, { properties: Record<string, unknown> }> }
    if (version === '0.9.0') delete schemas['shop-tags']?.properties.updated
    return { openapi }
  }
  const versions = releasedFieldVersions(catalogue, released('0.10.0', '0.9.0'), later, ['0.9.0', '0.10.0'])
  const file = fieldVersionsFile(versions)
  expect(file).toContain("\n  first: '0.9.0',\n  of: {\n    shops: {\n      shop_id: '0.9.0',\n")
  expect(file).toMatch(/\n {4}'shop-tags': \{\n[^}]*\n {6}updated: '0\.10\.0',\n/)
})
