import { expect, it } from 'vitest'
import { createKeyText, hashKey, keyTextOf, randomText } from '#ledger/key-text.js'
import type { StoredKey } from '#ledger/keys.js'
import { createFindCaller } from '../../../../services/edge/keys/find-caller.js'
import { createKeyMemory } from '../../../../services/edge/keys/key-memory.js'
import { sized } from '../../../support/sized.js'
import { createEdge, silent } from '../edge.js'

// Of each kind.
const tries = sized(1_000, 5_000)
const mine = createKeyText()
const stored: StoredKey = {
  keyId: mine.keyId,
  orgId: 'acme',
  hash: hashKey(mine.key),
  scopes: null,
  expiresIn: null,
}

/** The edge with a table that holds one key, and what is done to that table. */
const create = () => {
  const steps: string[] = []
  const memory = createKeyMemory(Date.now)
  memory.changes.onUp()
  const edge = createEdge({
    log: silent,
    findCaller: createFindCaller({
      findKey: async (hash) => {
        steps.push(`query of ${hash.length} bytes`)
        return hash.equals(stored.hash) ? stored : undefined
      },
      memory,
      demoKey: undefined,
      noteUse: () => steps.push('use noted'),
      now: Date.now,
      log: silent,
    }),
  })
  const show = async (key: string) => {
    steps.length = 0
    const started = performance.now()
    const { status, body, headers } = await edge.send('GET', '/v1/requests/none', undefined, {
      authorization: `Bearer ${key}`,
    })
    const took = performance.now() - started
    const { request_id: _, ...said } = body as Record<string, unknown>
    return { took, seen: JSON.stringify([status, said, Object.keys(headers), steps]) }
  }
  return { show, edge }
}

it('a key with a wrong checksum is refused without a query', async () => {
  const { show } = create()
  const answers = new Set<string>()
  for (let i = 0; i < 500; i++) {
    const { key } = createKeyText()
    const last = key.at(-1) === '0' ? '1' : '0'
    answers.add((await show(`${key.slice(0, -1)}${last}`)).seen)
  }
  expect([...answers]).toEqual([expect.stringMatching(/^\[401,.*,\[\]\]$/)])
})

it('nothing tells an id that exists from one that does not: the same answer, by the same steps', async () => {
  const { show } = create()
  await show(mine.key)
  // Made beforehand: what it takes to make up an id would be counted to the unknown ones.
  const guesses = Array.from({ length: tries }, () => ({
    known: keyTextOf(mine.keyId, randomText(32)),
    unknown: keyTextOf(randomText(12), randomText(32)),
  }))
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
  const answers = new Set<string>()
  for (const [i, guess] of guesses.entries()) {
    // In turns, and each first every other time, so that a pause of the machine falls on both alike.
    for (const kind of i % 2 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
      const { took, seen } = await show(guess[kind])
      times[kind].push(took)
      answers.add(seen)
    }
  }
  expect([...answers]).toEqual([expect.stringMatching(/^\[401,.*,\["query of 32 bytes"\]\]$/)])
  // Told, not asserted: the steps above are the proof, and a clock on a busy machine proves nothing.
  const [a, b] = [times.known, times.unknown].map((all) => (all.sort((x, y) => x - y)[tries / 2] ?? 0).toFixed(4))
  process.stdout.write(`median of ${tries} refusals: known id ${a} ms, unknown id ${b} ms\n`)
}, 60_000)
