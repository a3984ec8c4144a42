// docs/stream-processors.md as it stands, with the addresses of a system of our own: its files are written, its commands are run.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { Kafka, logLevel, Partitioners } from 'kafkajs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { untilQuiet } from '../support/system/groups.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'
import { snippetsOf } from './snippets.js'

const page = 'docs/stream-processors.md'
const org = await newOrganisation('streams')
const folder = await mkdtemp(join(tmpdir(), 'weir-streams-'))
const kafka = new Kafka({ brokers: system.env.KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING })
const stranger = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })

const here = (text: string): string =>
  text
    .replaceAll('127.0.0.1:9092', system.env.KAFKA_BROKERS)
    .replaceAll('http://127.0.0.1:8081', new URL(system.env.SCHEMA_REGISTRY_URL).origin)
    .replaceAll('127.0.0.1:8083', '127.0.0.1:0')

/** The command of the page in which this stands. */
const command = (word: string): string => {
  const [found, ...more] = snippetsOf(page).filter(({ language, text }) => language === 'sh' && text.includes(word))
  if (!found || more.length > 0) throw new Error(`${page} has not one command with ${word}`)
  return here(found.text)
}
const run = (word: string) => execa('bash', ['-ec', command(word)], { cwd: folder, all: true })

const shops = Object.fromEntries(
  ['kept', 'changed', 'deleted', 'revived', 'erased'].map((name) => [
    name,
    sampleOf(shop, { name, is_deleted: false }),
  ]),
) as Record<string, Record<string, unknown>>

const upload = async (...records: unknown[]) =>
  expect(await org.uploader.upload('shops', records)).toMatchObject({ status: 200 })

beforeAll(async () => {
  await symlink(join(packageRoot, 'node_modules'), join(folder, 'node_modules'))
  const files = readFileSync(join(packageRoot, page), 'utf8').matchAll(
    /his is\s`([^`]+)`[^`]*(?:`[^`\n]+`[^`]*)*?\n\n```\n(.*?)^```$/gms,
  )
  for (const [, name = '', text = ''] of files) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), here(text))
  }
  await stranger.connect()
  await upload(...Object.values(shops))
  await upload({ ...shops.changed, name: 'changed, twice' }, { ...shops.deleted, is_deleted: true })
  await upload({ ...shops.revived, is_deleted: true })
  await upload({ ...shops.revived, name: 'revived, and back' }, shops.kept)
})
afterAll(async () => {
  await stranger.disconnect()
  await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 })
})

/** What the view in ClickHouse shows of our organisation, as the page's programs print it. */
const inView = async (): Promise<string[]> => {
  await untilQuiet(system.env.KAFKA_BROKERS)
  const rows = await analyst.query<{ line: string }>(
    `select concat(org_id, '/', toString(shop_id), ' ', toString(version), ' ', name) as line
    from weir.shops where org_id = {org:String} order by line`,
    { org: org.name },
  )
  return rows.map(({ line }) => line)
}

/** Runs a program of the page until `work` is through, and then presses Ctrl-C; `lines` is all that it has printed. */
const whileRuns = async (word: string, work: (lines: () => string[]) => Promise<void>): Promise<void> => {
  const program = spawn(
    'bash',
    [
      '-c',
      `${command(word)
        .trimEnd()
        .replace(/\njava/, '\nexec java')}`,
    ],
    { cwd: folder },
  )
  let printed = ''
  program.stdout.on('data', (piece: Buffer) => {
    printed += piece
  })
  program.stderr.on('data', (piece: Buffer) => {
    printed += piece
  })
  const ended = once(program, 'close')
  try {
    await work(() => printed.split('\n')).catch((error: Error) => {
      throw new Error(`${error.message}\n${printed.slice(-6000)}`)
    })
  } finally {
    // As by Ctrl-C, and also where the tests themselves run in the background of a shell, in which that is ignored.
    program.kill('SIGTERM')
    await ended
  }
}

/** Once a table holds the rows of the view: one of them is taken away by a message without a value, and another one comes. */
const compare = async (shown: () => Promise<string[]>, afterwards: { isGone: boolean }): Promise<void> => {
  const before = await inView()
  expect(before.map((line) => line.split(' ').slice(2).join(' ')).sort()).toEqual(
    expect.arrayContaining(['changed, twice', 'kept', 'revived, and back']),
  )
  await eventually(async () => expect(await shown()).toEqual(before), 120_000)
  const [erased, later] = [sampleOf(shop, { is_deleted: false }), sampleOf(shop, { is_deleted: false })]
  await upload(erased)
  const key = `${org.name}/${erased.shop_id}`
  await eventually(async () => expect(await shown()).toEqual(await inView()), 120_000)
  await stranger.send({ topic: 'weir.accepted.shops', messages: [{ key, value: null }] })
  await upload(later)
  const all = await inView()
  const expected = afterwards.isGone ? all.filter((line) => !line.startsWith(key)) : all
  await eventually(async () => expect(await shown()).toEqual(expected), 120_000)
  // The next reader finds the same in topic and view: the record comes again.
  await upload({ ...erased, name: 'again' })
}

it("Iceberg's sink has every event, and the view over its table shows what the view in ClickHouse does", async () => {
  await run('-Piceberg')
  await run('createTopics')
  await whileRuns('iceberg.properties', async () => {
    await run('pip install')
    const shown = async () => {
      const { stdout } = await execa('venv/bin/python', ['shops.py'], { cwd: join(folder, '.data/streams') })
      return stdout
        .split('\n')
        .filter((line) => line.startsWith(`${org.name}/`))
        .sort()
    }
    await compare(shown, { isGone: false })
  })
}, 600_000)

it('the view in Flink shows what the view in ClickHouse does, and loses a record that is gone', async () => {
  await run('-Pflink')
  await whileRuns('FlinkShops.java', (lines) =>
    compare(
      async () => {
        const rows = new Map<string, string>()
        for (const line of lines()) {
          const [, op = '', key = '', version = '', name = ''] =
            /^(\+I|\+U|-U|-D)\[([^,]+), (\d+), (.*)\]$/.exec(line) ?? []
          if (!key.startsWith(`${org.name}/`)) continue
          if (op.startsWith('+')) rows.set(key, `${key} ${version} ${name}`)
          else rows.delete(key)
        }
        return [...rows.values()].sort()
      },
      { isGone: true },
    ),
  )
}, 600_000)

it('the table of Kafka Streams shows what the view in ClickHouse does, and loses a record that is gone', async () => {
  await run('-Pkafka-streams')
  await whileRuns('ShopsTable.java', (lines) =>
    compare(
      async () => {
        const rows = new Map<string, string>()
        for (const line of lines().filter((each) => each.startsWith(`${org.name}/`))) {
          const [key = ''] = line.split(' ', 1)
          if (line === `${key} is gone`) rows.delete(key)
          else rows.set(key, line)
        }
        return [...rows.values()].sort()
      },
      { isGone: true },
    ),
  )
}, 600_000)
