import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import avro from 'avsc'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import { catalogue } from '#schemas/catalogue.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import { acceptedTopic } from '#schemas/derive/names.js'
import { topicReferenceOf } from '#schemas/derive/topic-reference/topic-reference.js'
import { createValidator } from '#schemas/derive/validator.js'
import type { Values } from '#schemas/field.js'
import type { RecordType } from '#schemas/record.js'
import { blocksOf, showsIn } from '../docs/snippets.js'
import { sampleOf } from '../support/sample.js'
import { newOrganisation, system } from '../support/system/system.js'

// What a stranger gets: the SDK and the uploader as the edge serves them, in a project of their own that has nothing else.
const folder = await mkdtemp(join(tmpdir(), 'weir-client-'))
afterAll(() => rm(folder, { recursive: true, force: true }))
const project = join(folder, 'project')
const { version } = JSON.parse(await readFile(join(packageRoot, 'package.json'), 'utf8'))
const client = `./weir-client-${version}.tgz`
const uploader = `./weir-upload-${version}.tgz`
const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc')

const blocks = blocksOf(await readFile(join(packageRoot, 'clients/typescript/README.md'), 'utf8'))
const textOf = (language: string): string =>
  blocks
    .filter((block) => block.language === language)
    .map(({ text }) => text)
    .join('\n')
const program = textOf('ts').replaceAll('http://127.0.0.1:8080', system.edgeUrl)

const prefix = join(folder, 'own')
// npm tells what it runs how it was called itself; a stranger's shell has none of that.
const env = Object.fromEntries(
  Object.keys(process.env).flatMap((name) => (/^npm_/i.test(name) ? [[name, undefined]] : [])),
)

beforeAll(async () => {
  await mkdir(project)
  await execa('npm', ['init', '-y'], { cwd: project, env })
  const { packages } = (await (await fetch(`${system.edgeUrl}/downloads/index.json`)).json()) as {
    packages: { install: string }[]
  }
  expect(packages).toHaveLength(4)
  for (const { install } of packages.filter((each) => each.install.startsWith('npm '))) {
    const [npm = '', ...words] = install.split(' ')
    await execa(npm, [...words, '--prefix', words.includes('-g') ? prefix : project, '--no-audit', '--no-fund'], {
      cwd: project,
      env,
    })
  }
  const sums = await (await fetch(`${system.edgeUrl}/downloads/SHA256SUMS`)).text()
  for (const line of sums.trim().split('\n')) {
    const [sha256, file = ''] = line.split('  ')
    const bytes = Buffer.from(await (await fetch(`${system.edgeUrl}/downloads/${file}`)).arrayBuffer())
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256)
    await writeFile(join(project, file), bytes)
  }
})

it('runs what its README shows, in plain Node', async () => {
  const org = await newOrganisation('sdk-readme')
  await writeFile(join(project, 'program.mjs'), program)
  const { stdout } = await execa(process.execPath, ['program.mjs'], { cwd: project, env: { WEIR_KEY: org.key } })
  expect(showsIn(textOf('text'), stdout), stdout).toBe(true)
})

// Their binaries are in packages of npm.
const node = `node-${process.platform}-${process.arch}`
const runtimes: [name: string, what: string, command: string[]][] = [
  ...['22', '24', '26'].map((major): [string, string, string[]] => [
    `Node ${major}`,
    `${node}@${major}`,
    [`node_modules/${node}/bin/node`],
  ]),
  ['Bun', 'bun@1', ['node_modules/.bin/bun', 'run']],
  ['Deno', 'deno@2', ['node_modules/.bin/deno', 'run', '-A']],
]
it.each(runtimes)('runs what its README shows in %s', async (_, what, [command = '', ...words]) => {
  const own = await mkdtemp(join(folder, 'runtime-'))
  await execa('npm', ['install', '--no-audit', '--no-fund', what, join(project, client)], { cwd: own, env })
  await writeFile(join(own, 'program.mjs'), program)
  const { key } = await newOrganisation('sdk-runtime')
  const { stdout } = await execa(join(own, command), [...words, 'program.mjs'], { cwd: own, env: { WEIR_KEY: key } })
  // Bun and Deno write objects in other lines, with other quotes.
  expect(bare(stdout), stdout).toContain('{accepted:1,refused:1}')
  if (what.startsWith(node)) expect(showsIn(textOf('text'), stdout), stdout).toBe(true)
})
const bare = (text: string): string => text.replaceAll(/[\s'"]/g, '').replaceAll(/,(?=[}\]])/g, '')

it('compiles in a new project as its README stands, with no settings at all', async () => {
  await mkdir(join(project, 'node_modules/@types'), { recursive: true })
  await symlink(join(packageRoot, 'node_modules/@types/node'), join(project, 'node_modules/@types/node'))
  await writeFile(join(project, 'program.mts'), program)
  const words = [tsc, '--noEmit', 'program.mts']
  expect((await execa(process.execPath, words, { cwd: project, reject: false })).stdout).toBe('')
})

it('brings its types, for Node and for browsers, with everything strict', async () => {
  await writeFile(join(project, 'program.mts'), program)
  const wrong = [
    "import { createWeir } from 'weir-client'",
    "import { sampleTopic } from 'weir-client/samples'",
    "const weir = createWeir({ url: location.href, key: 'k', fetch: window.fetch })",
    '// @ts-expect-error: it has no such field',
    "void weir.shops.send([{ shop_id: '', name: '', region: '', regoin: '' }])",
    '// @ts-expect-error: region is missing',
    "void weir.shops.upload([{ shop_id: '', name: '' }])",
    "export const name: string | undefined = sampleTopic('shops').events[0]?.name",
    '// @ts-expect-error: there is no such type',
    "void sampleTopic('shop')",
    '// @ts-expect-error: it is none of the kinds',
    "void weir.interactions.list({ item_type: 'SHOPS' })",
    'void weir.shopCategories.upload([], { onRefused: ({ record }) => record.shop_category_id.length })',
  ]
  await writeFile(join(project, 'page.mts'), wrong.join('\n'))
  expect(await complaintsOf(['program.mts'], forNode)).toBe('')
  expect(await complaintsOf(['page.mts'], ['--lib', 'es2022,dom'])).toBe('')
})

it('brings the types of the events on the topics, as the consumers that are shown for each topic use them', async () => {
  for (const name of ['kafkajs', '@kafkajs'])
    await symlink(join(packageRoot, 'node_modules', name), join(project, 'node_modules', name))
  const consumers = topicReferenceOf(catalogue).map(({ name, snippets }) => ({ file: `${name}.mts`, snippets }))
  for (const { file, snippets } of consumers) await writeFile(join(project, file), snippets.typescript)
  const wrong = [
    "import type { EventsByTopic, ShopsEvent } from 'weir-client/events'",
    "export const nameOf = (event: EventsByTopic['weir.accepted.shops']): string => event.name",
    'export const isAt = (event: ShopsEvent): Date => new Date(event.accepted_at)',
    '// @ts-expect-error: it may be null',
    'export const isPublic = (event: ShopsEvent): boolean => event.is_public',
    '// @ts-expect-error: there is no such topic',
    "export type Shop = EventsByTopic['weir.submitted.shops']",
  ]
  await writeFile(join(project, 'events.mts'), wrong.join('\n'))
  // What a decoder gives, written out: no field too many, none missing, each of its type.
  const decoded = [...catalogue.all.values()].map(
    (type, n) => `export const event${n}: EventsByTopic['${acceptedTopic(type.type)}'] = ${decodedEventOf(type)}`,
  )
  const imported = "import type { EventsByTopic } from 'weir-client/events'"
  await writeFile(join(project, 'decoded.mts'), [imported, ...decoded].join('\n'))
  const files = [...consumers.map(({ file }) => file), 'events.mts', 'decoded.mts']
  expect(await complaintsOf(files, forNode)).toBe('')
})

/** An accepted event, encoded and decoded as on its topic. */
function decodedEventOf(type: RecordType): string {
  const { values } = createValidator(type)(sampleOf(type)) as { values: Values }
  const assigned = type === catalogue.interaction ? { interaction_id: 'i', recorded_at: 3 } : {}
  const event = { org_id: 'o', request_id: 'r', batch_id: 'b', accepted_at: 1, version: 2, ...assigned, ...values }
  const schema = avro.Type.forSchema(acceptedSchema(type) as avro.Schema)
  return JSON.stringify(schema.fromBuffer(schema.toBuffer(event)))
}

const strict = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2022', '--noEmit']
const typeRoots = join(packageRoot, 'node_modules/@types')
const forNode = ['--types', 'node', '--lib', 'es2023', '--skipLibCheck', '--typeRoots', typeRoots]

/** What the compiler has to say against these files of the project. */
async function complaintsOf(files: string[], settings: string[]): Promise<string> {
  const words = [tsc, ...strict, ...settings, ...files]
  return (await execa(process.execPath, words, { cwd: project, reject: false })).stdout
}

it('uploads files with the command of the other package, installed in a folder of its user, which needs no clone', async () => {
  const org = await newOrganisation('packed-uploader')
  const weirUpload = (...words: string[]) =>
    execa(join(prefix, 'bin/weir-upload'), words, {
      cwd: project,
      env: { WEIR_URL: system.edgeUrl, WEIR_KEY: org.key },
      reject: false,
    })
  const { stdout } = await weirUpload('sample', '--customers', '10', '--out', 'sample')
  expect(stdout).toContain('sample/shops.csv')
  const { stdout: summary } = await weirUpload('upload', '--json', 'sample/shops.csv', 'sample/offers.csv')
  const { accepted, refused, files } = JSON.parse(summary)
  expect({ refused, states: files.map(({ state }: { state: string }) => state) }).toEqual({
    refused: 0,
    states: ['finished', 'finished'],
  })
  expect(accepted).toBeGreaterThan(1)
  const { stderr } = await weirUpload('sample/shops.csv')
  expect(stderr).toContain('To send it all again: weir-upload upload sample/shops.csv --restart')
})

const namesIn = async (tarball: string): Promise<string[]> =>
  (await execa('tar', ['tzf', tarball], { cwd: project })).stdout
    .split('\n')
    .map((name) => name.replace('package/', ''))
    .sort()

it('holds what it needs and nothing else', async () => {
  const names = await namesIn(client)
  expect(
    names.filter((name) => !/^(dist\/([\w-]+\/)*[\w-]+\.(js|js\.map|d\.ts)|src\/([\w-]+\/)?[\w-]+\.ts)$/.test(name)),
  ).toEqual(['LICENSE', 'README.md', 'package.json'])
  expect(names).toContain('dist/index.d.ts')
  expect(await namesIn(uploader)).toEqual([
    'LICENSE',
    'README.md',
    'dist/licences.md',
    'dist/weir-upload.js',
    'package.json',
  ])
})
