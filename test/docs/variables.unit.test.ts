import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ConfigSchema } from '#platform/process/config.js'
import { readConfig } from '../../deploy/embedded/launcher/config.js'
import { configSchema as edge } from '../../services/edge/config.js'
import { configSchema as integrity } from '../../services/integrity/config.js'
import { configSchema as operator } from '../../services/operator/config.js'
import { configSchema as sink } from '../../services/sink/config.js'

// docs/operations.md names every variable with those who read it and its default: here it is held against the code.

const root = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')

type Row = { names: string[]; readers: string[]; fallback: string }

/** The rows of every table that begins with the columns "variable" and "read by". */
const rowsIn = (markdown: string): Row[] =>
  markdown
    .split('\n\n')
    .filter((block) => block.startsWith('| variable | read by | default |'))
    .flatMap((table) => table.trim().split('\n').slice(2))
    .map((line) => {
      const [, names = '', readers = '', fallback = ''] = line.split('|').map((cell) => cell.trim())
      return { names: wordsIn(names), readers: wordsIn(readers), fallback: fallback.replaceAll('`', '') }
    })

const wordsIn = (cell: string): string[] => cell.replaceAll('`', '').split(', ')

const rows = rowsIn(read('docs/operations.md'))

/** What the tables say that one reader reads: each variable and its default. */
const documented = (reader: string): [string, string][] =>
  rows
    .filter(({ readers }) => readers.includes(reader))
    .flatMap(({ names, fallback }) => names.map((name): [string, string] => [name, fallback]))
    .sort()

const none = '–'

const sourcesIn = (folder: string): string =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.m?ts$|\.mjs$/.test(file))
    .map((file) => read(join(folder, file)))
    .join('\n')

const namesIn = (source: string, pattern: RegExp): Set<string> =>
  new Set([...source.matchAll(pattern)].map(([, name = '']) => name))

const schemas: Record<string, ConfigSchema> = { edge, integrity, sink, operator }

describe('the tables of variables in docs/operations.md', () => {
  it.each(Object.entries(schemas))('say what %s reads, and its defaults', (service, { properties }) => {
    const read = Object.entries(properties).map(([name, { default: given }]) => [name, String(given ?? '') || none])
    expect(documented(service)).toEqual(read.sort())
  })

  it('say what the launcher reads, and its defaults', () => {
    const names = new Set<string>()
    const config = readConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }))
    const fallbacks: Record<string, unknown> = {
      ...config.ports,
      ...config.addresses,
      EDGE_HOST: config.edgeHost,
      DATA_DIR: relative(root, config.dataDir),
    }
    const read = [...names].map((name) => [name, String(fallbacks[name] ?? none)])
    expect(documented('launcher')).toEqual(read.sort())
  })

  it('say what docker-compose.yml takes from the shell, and its defaults', () => {
    const taken = [...read('docker-compose.yml').matchAll(/\$\{([A-Z_]+):-([^}]*)\}/g)]
    const names = new Set(taken.map(([, name = '']) => name))
    expect(documented('compose').map(([name]) => name)).toEqual([...names].sort())
    const said = new Map(documented('compose'))
    // An empty one leaves the service its own default, which stands in the same row.
    for (const [, name = '', fallback] of taken.filter(([, , given]) => given !== ''))
      expect(`${name} ${said.get(name)}`).toBe(`${name} ${fallback}`)
  })

  it('leave out nothing that set-up, launcher and embedded parts read, and invent nothing', () => {
    const found = namesIn(sourcesIn('deploy/embedded'), /\benv\.([A-Z][A-Z_]+)\b/g)
    found.delete('PATH')
    const named = new Set(rows.flatMap(({ names }) => names))
    expect([...found].filter((name) => !named.has(name))).toEqual([])
    expect(documented('embedded').filter(([name]) => !found.has(name))).toEqual([])
  })

  it('name variables for tests that tests read', () => {
    const found = namesIn(sourcesIn('test'), /\bprocess\.env\.([A-Z][A-Z_]+)\b/g)
    expect(documented('tests').filter(([name]) => !found.has(name))).toEqual([])
  })

  it('name no other reader', () => {
    const known = [...Object.keys(schemas), 'launcher', 'compose', 'embedded', 'tests']
    expect(rows.flatMap(({ readers }) => readers).filter((reader) => !known.includes(reader))).toEqual([])
  })
})

it('has a row of the crash table in docs/correctness.md for every value of WEIR_FAILPOINT', () => {
  const crashes = [...read('docs/correctness.md').matchAll(/^\| `([a-z-]+)` \((edge|integrity|sink)\) \|/gm)]
  expect(crashes.map(([, name]) => name)).toEqual([...edge.properties.WEIR_FAILPOINT.enum])
})
