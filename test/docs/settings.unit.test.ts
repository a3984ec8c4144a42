import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import { settings, settingsPage } from '../../deploy/settings-page.js'
import { configSchema as edge } from '../../services/edge/config.js'

const read = (file: string): string => readFileSync(join(packageRoot, file), 'utf8')

const sourcesIn = (folder: string): string =>
  readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.m?ts$|\.mjs$/.test(file))
    .map((file) => read(join(folder, file)))
    .join('\n')

const namesIn = (source: string, pattern: RegExp): Set<string> =>
  new Set([...source.matchAll(pattern)].map(([, name = '']) => name))

const readBy = (reader: string): string[] =>
  settings()
    .filter(({ readers }) => readers.includes(reader))
    .map(({ name }) => name)

it('has a page of settings that says what the code reads: npm run publish-schemas writes it', () => {
  expect(read('docs/settings.md')).toBe(settingsPage())
})

it('has a row for everything that set-up, launcher and embedded parts read, and invents none', () => {
  const found = namesIn(sourcesIn('deploy/embedded'), /\benv\.([A-Z][A-Z_]+)\b/g)
  found.delete('PATH')
  const named = settings().map(({ name }) => name)
  expect([...found].filter((name) => !named.includes(name))).toEqual([])
  expect(readBy('embedded').filter((name) => !found.has(name))).toEqual([])
})

it('names variables for tests that tests read', () => {
  const found = namesIn(sourcesIn('test'), /\bprocess\.env\.([A-Z][A-Z_]+)\b/g)
  expect(readBy('tests').filter((name) => !found.has(name))).toEqual([])
})

it('knows what each service, the operator, the launcher and compose read', () => {
  const readers = new Set(settings().flatMap((each) => each.readers))
  expect([...readers].sort()).toEqual([
    'compose',
    'delivery',
    'edge',
    'embedded',
    'integrity',
    'launcher',
    'operator',
    'sink',
    'tests',
  ])
  expect(readBy('compose')).toContain('SUBNET')
  expect(readBy('launcher')).toContain('DATA_DIR')
  expect(settings().filter(({ name }) => name === 'LOG_LEVEL')).toMatchObject([
    { fallback: 'info', readers: ['edge', 'integrity', 'sink', 'delivery', 'compose', 'embedded'] },
    { fallback: 'error', readers: ['operator'] },
  ])
})

it('has a row of the crash table in docs/correctness.md for every value of WEIR_FAILPOINT', () => {
  const crashes = [...read('docs/correctness.md').matchAll(/^\| `([a-z-]+)` \((edge|integrity|sink)\) \|/gm)]
  expect(crashes.map(([, name]) => name)).toEqual([...edge.properties.WEIR_FAILPOINT.enum])
})
