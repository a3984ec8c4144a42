import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { afterAll, describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { hasVersions } from '#schemas/record.js'
import { type SampledType, type SampleOptions, sampleTopic } from '../../../clients/typescript/samples.js'
import { addTopicsSample } from '../../../services/operator/topics/sample.js'
import { fromSources } from './drive-python.js'

// What `weir topics sample` prints is what both SDKs give, byte for byte.

const folder = mkdtempSync(join(tmpdir(), 'weir-samples-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

type Wish = SampleOptions & { type: SampledType }
const switches = ['deletes', 'duplicates', 'newFields'] as const
const wishes = [...catalogue.all.values()].flatMap((type): Wish[] => {
  const allowed = switches.filter((each) => each !== 'deletes' || hasVersions(type))
  const wish = { type: type.type as SampledType, count: 30 }
  const all = { ...wish, seed: 999_999, ...Object.fromEntries(allowed.map((on) => [on, true])) }
  if (type.type !== 'transactions') return [wish, all]
  return [wish, all, { ...all, count: 700 }, ...allowed.map((on, seed) => ({ ...wish, seed, [on]: true }))]
})
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const linesOf = ({ events, expected }: { events: unknown[]; expected: unknown[] }) =>
  [...events, ...expected].map((each) => JSON.stringify(each))

const byCommand = async ({ type, count, seed = 1, ...on }: Wish): Promise<string[]> => {
  const path = join(folder, 'expected.ndjson')
  const words = Object.keys(on).map((name) => `--${snake(name).replace('_', '-')}`)
  let printed = ''
  const own = ['--count', String(count), '--seed', String(seed), '--expected', path, ...words]
  const topics = new Command()
  addTopicsSample(topics, { catalogue, env: {}, note: () => {}, print: (text: string) => (printed += text) } as never)
  await topics.parseAsync(['sample', type, ...own], { from: 'user' })
  return [...printed.split('\n'), ...readFileSync(path, 'utf8').trimEnd().split('\n')]
}

it('are the same in TypeScript', async () => {
  for (const wish of wishes)
    expect(linesOf(sampleTopic(wish.type, wish)), JSON.stringify(wish)).toEqual(await byCommand(wish))
})

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0
it('are the same in Python', async ({ skip }) => {
  if (!hasPython) skip('there is no Python 3.9 or later here')
  const program = `
import json, sys
from weir_client.samples import sample_topic
for line in sys.stdin:
    events, expected = sample_topic(**json.loads(line))
    print(json.dumps([json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in events + expected]))`
  const input = wishes
    .map((wish) => JSON.stringify(Object.fromEntries(Object.entries(wish).map(([name, on]) => [snake(name), on]))))
    .join('\n')
  const env = { PYTHONDONTWRITEBYTECODE: '1', PYTHONIOENCODING: 'utf-8', ...fromSources.env }
  const { stdout } = await execa('python3', ['-c', program], { env, input })
  const answers = stdout.split('\n')
  expect(answers).toHaveLength(wishes.length)
  for (const [n, wish] of wishes.entries())
    expect(JSON.parse(answers[n] ?? ''), JSON.stringify(wish)).toEqual(linesOf(sampleTopic(wish.type, wish)))
})

describe('a consumer', () => {
  const { events, expected } = sampleTopic('transactions', { count: 200, deletes: true, duplicates: true })
  type Event = (typeof events)[number]
  const stateOf = (isTaken: (event: Event, known: Event | undefined) => boolean, isKept: (event: Event) => boolean) => {
    const table = new Map<string, Event>()
    for (const event of events)
      if (isTaken(event, table.get(event.transaction_id))) table.set(event.transaction_id, event)
    return [...table.values()].filter(isKept).sort((a, b) => (a.transaction_id < b.transaction_id ? -1 : 1))
  }
  const isNewer = (event: Event, known: Event | undefined) => !known || event.version > known.version
  const isLive = (event: Event) => event.is_deleted !== true

  it('that keeps the newest and leaves out what is deleted is right', () =>
    expect(stateOf(isNewer, isLive)).toEqual(expected))
  it('that keeps what came last is not', () => expect(stateOf(() => true, isLive)).not.toEqual(expected))
  it('that ignores deletes is not', () => expect(stateOf(isNewer, () => true)).not.toEqual(expected))
})

it.each([
  ['there is no type shop', 'shop', {}],
  ['never changed or deleted', 'interactions', { deletes: true }],
  ['from 1 to 100000', 'shops', { count: 0 }],
  ['from 0 to 999999', 'shops', { seed: 0.5 }],
])('are refused in TypeScript: %s', (message, type, options) => {
  expect(() => sampleTopic(type as SampledType, options)).toThrow(message)
})
