import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

// The plan of the house, as a newcomer relies on it. Each failure names the file and the rule.

const root = fileURLToPath(new URL('..', import.meta.url))

// A client that was packed has what was built beside its sources; dbt leaves what it did in the next two, and Python in the last ones.
const made = ['dist', 'target', 'logs', '__pycache__', '.mypy_cache']

/** The files below a folder, as paths from the root. */
const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return made.includes(entry.name) ? [] : filesIn(path)
    return [path]
  })
const files = ['schemas', 'services', 'clients', 'deploy'].flatMap(filesIn)
const sources = files.filter((file) => file.endsWith('.ts'))
const textOf = new Map(sources.map((file) => [file, readFileSync(join(root, file), 'utf8')]))

const aliases = {
  '#schemas/': 'schemas/',
  '#ledger/': 'services/ledger/',
  '#rejections/': 'services/rejections/',
  '#feeds/': 'services/feeds/',
  '#persons/': 'services/persons/',
  '#http/': 'services/http/',
  '#query/': 'services/query/',
  '#tables/': 'services/tables/',
  '#platform/': 'services/platform/',
}

/** The files of ours that a file imports, types included. */
const importsOf = new Map(
  sources.map((file) => {
    const names = [...(textOf.get(file) ?? '').matchAll(/\b(?:from|import)\s*\(?\s*'([#.][^']+)'/g)]
    const imported = names.flatMap(([, name = '']) => {
      const alias = Object.entries(aliases).find(([prefix]) => name.startsWith(prefix))
      const path = alias ? name.replace(alias[0], alias[1]) : join(dirname(file), name)
      return [path.replace(/\.js$/, '.ts')].filter((target) => textOf.has(target))
    })
    return [file, imported]
  }),
)

/** The room that a file belongs to: schemas, deploy, or one of the services or clients. */
const roomOf = (file: string): string => {
  const [first = '', second = ''] = file.split('/')
  return first === 'services' || first === 'clients' ? `${first}/${second}` : first
}
const shared = ['schemas', 'services/ledger', 'services/platform']

it.each([
  { room: 'schemas', mayImport: [] },
  { room: 'services/platform', mayImport: [] },
  { room: 'services/ledger', mayImport: ['schemas', 'services/platform'] },
  { room: 'services/rejections', mayImport: shared },
  { room: 'services/edge', mayImport: [...shared, 'services/rejections', 'services/http', 'services/query'] },
  { room: 'services/feeds', mayImport: shared },
  { room: 'services/persons', mayImport: [...shared, 'services/rejections', 'services/feeds'] },
  {
    room: 'services/query',
    mayImport: [...shared, 'services/rejections', 'services/feeds', 'services/persons', 'services/http'],
  },
  { room: 'services/http', mayImport: ['schemas', 'services/platform'] },
  { room: 'services/integrity', mayImport: shared },
  { room: 'services/tables', mayImport: ['schemas', 'services/platform'] },
  { room: 'services/sink', mayImport: [...shared, 'services/tables'] },
  { room: 'services/delivery', mayImport: [...shared, 'services/feeds', 'services/persons'] },
  {
    room: 'services/operator',
    mayImport: [...shared, 'services/rejections', 'services/tables', 'services/feeds', 'services/persons'],
  },
  {
    room: 'deploy',
    mayImport: [
      ...shared,
      // The launcher starts the services, and takes of them only how their addresses are written.
      'services/operator/config.ts',
      'services/operator/command/ask-servers.ts',
      'services/edge/network/network.ts',
      // The page of settings is made from the settings that the services declare.
      ...['edge', 'integrity', 'sink', 'delivery'].map((service) => `services/${service}/config.ts`),
      // The dashboards and docs/metrics.md are made from the figures that the services declare.
      ...['edge', 'integrity', 'sink', 'delivery'].map((service) => `services/${service}/figures.ts`),
      ...['lag', 'load', 'rates'].map((limit) => `services/edge/limits/${limit}.ts`),
    ],
  },
  {
    room: 'clients/typescript',
    mayImport: [
      'schemas/catalogue.ts',
      'schemas/record.ts',
      'schemas/samples/history.ts',
      'schemas/samples/published.ts',
    ],
  },
  { room: 'clients/console', mayImport: ['clients/typescript'] },
  { room: 'clients/mcp', mayImport: ['schemas', 'clients/typescript'] },
  { room: 'clients/uploader', mayImport: ['schemas', 'clients/typescript'] },
])('imports into $room only what may be there', ({ room, mayImport }) => {
  const allowed = new Set([room, ...mayImport])
  const strangers = sources
    .filter((file) => roomOf(file) === room)
    .flatMap((file) => (importsOf.get(file) ?? []).map((target) => ({ file, target })))
    .filter(({ target }) => !allowed.has(roomOf(target)) && !allowed.has(target))
  const rule = `${room} may import only ${[...allowed].join(', ')}`
  expect(strangers.map(({ file, target }) => `${file} imports ${target}: ${rule}`)).toEqual([])
})

const samples = 'clients/typescript/samples.ts'

it('has an SDK that runs anywhere: it imports no package, and nothing of Node; samples may be made by schemas, which are packed with them', () => {
  const ofSamples = new Set([samples])
  for (const file of ofSamples) for (const target of importsOf.get(file) ?? []) ofSamples.add(target)
  const sdk = sources.filter((file) => file.startsWith('clients/typescript/src/'))
  const strangers = [...sdk, ...ofSamples].flatMap((file) =>
    [...(textOf.get(file) ?? '').matchAll(/(?<!')\b(?:from|import)\s*\(?\s*'([^']+)'/g)]
      .filter(([, name = '']) => {
        const path = join(dirname(file), name)
        return !name.startsWith('.') || !path.startsWith(ofSamples.has(file) ? '' : 'clients/typescript/src/')
      })
      .map(([, name]) => `${file} imports ${name}; the SDK may import only its own files`),
  )
  expect(strangers).toEqual([])
  expect(ofSamples).toContain('schemas/samples/sha256.ts')
})

it('has one door to the path of bytes', () => {
  const [room, door] = ['schemas/byte-path', 'schemas/byte-path/byte-path.ts']
  const past = sources
    .filter((file) => dirname(file) !== room)
    .flatMap((file) => (importsOf.get(file) ?? []).map((target) => ({ file, target })))
    .filter(({ target }) => dirname(target) === room && target !== door)
  expect(past.map(({ file, target }) => `${file} imports ${target}; from outside, import ${door}`)).toEqual([])
})

it('leaves SQL on the shared Postgres tables to services/ledger', () => {
  const statement = /\b(from|join|into|update|table|only)\s+(integrity|edge|auth|operator|delivery)\.[a-z_]+/i
  const elsewhere = sources.filter((file) => roomOf(file) !== 'services/ledger')
  const found = elsewhere.flatMap((file) => {
    const withoutComments = (textOf.get(file) ?? '').replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
    const match = statement.exec(withoutComments)
    return match ? [`${file} has SQL of its own: "${match[0]}"; it belongs to services/ledger`] : []
  })
  expect(found).toEqual([])
})

it('has no circle of imports', () => {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' imports '))
    if (done.has(file) || path.includes(file)) return
    for (const target of importsOf.get(file) ?? []) visit(target, [...path, file])
    done.add(file)
  }
  for (const file of sources) visit(file, [])
  expect(circles).toEqual([])
})

it('gives one name to one thing: no two files export a type of the same name', () => {
  const owners = new Map<string, string[]>()
  for (const file of sources) {
    for (const [, name = ''] of (textOf.get(file) ?? '').matchAll(/^export (?:type|class) ([A-Z]\w*)/gm))
      owners.set(name, [...(owners.get(name) ?? []), file])
  }
  const doubled = [...owners].filter(([, where]) => where.length > 1)
  expect(doubled.map(([name, where]) => `${name} is exported by ${where.join(' and ')}`)).toEqual([])
})

it('has rooms of 14 files at the most', () => {
  // A file for each record type, a generated file for each topic, and one for each change of the tables, which are never taken away.
  const lists = ['schemas/records', 'schemas/published', 'services/ledger/migrations/integrity']
  const counts = new Map<string, number>()
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  const crowded = [...counts].filter(([folder, count]) => count > 14 && !lists.includes(folder))
  expect(crowded.map(([folder, count]) => `${folder} holds ${count} files; a room holds 14 at the most`)).toEqual([])
})

it('has no service file of fewer than 12 lines: it is a part of its caller', () => {
  const lines = (file: string) => (textOf.get(file) ?? '').trimEnd().split('\n').length
  const tiny = sources.filter((file) => file.startsWith('services/') && lines(file) < 12)
  expect(tiny.map((file) => `${file} has ${lines(file)} lines; fold it into the file that uses it`)).toEqual([])
})

it('keeps fakes under test/', () => {
  expect(files.filter((file) => file.includes('.fake.')).map((file) => `${file} is a fake outside of test/`)).toEqual(
    [],
  )
})
