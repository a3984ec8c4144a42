import { expect, it } from 'vitest'
import { Unavailable } from '#http/request-error.js'
import { createMetrics } from '#platform/health/metrics.js'
import { partitionOf } from '#platform/kafka/partitions.js'
import { usualLayout } from '#schemas/derive/topics.js'
import { interaction } from '#schemas/records/interaction.js'
import { placeOfInteraction } from '#schemas/uuid.js'
import { createToEntry } from '../../../../services/edge/batches/entries.js'
import { createFigures } from '../../../../services/edge/figures.js'
import { createGather, type Gather } from '../../../../services/edge/interactions/gather.js'
import type { Lag } from '../../../../services/edge/limits/lag.js'
import { sampleOf } from '../../../support/sample.js'
import { silent } from '../edge.js'
import { createFakeLag } from '../fakes/lag.fake.js'
import { createFakeSubmit } from '../fakes/submit.fake.js'

const bodySha256 = Buffer.alloc(32)
const assigned = { interaction_id: '00000000-0000-4000-8000-000000000000', recorded_at: 0 }
const toEntry = createToEntry(interaction)
const accepted = () => Buffer.alloc(0)
const unkeyed = { bodySha256, keyedRequestId: null, keyedId: null, keyId: null }
const one = (user_id: string, city = '') => ({
  ...unkeyed,
  entry: toEntry(sampleOf(interaction, { user_id, city }), accepted, assigned),
})
const refusal = { id: null, problems: [], record: '{}', truncated: false }
const bad = { ...unkeyed, entry: { refusal, size: 10 } }

const keyed = (interaction_id: string) => ({
  entry: { ...toEntry(sampleOf(interaction), accepted, { interaction_id, recorded_at: 0 }), keyedSha256: bodySha256 },
  bodySha256,
  keyedRequestId: interaction_id,
  keyedId: interaction_id,
  keyId: null,
})

const create = (records = 3, lag: Partial<Lag> = {}) => {
  const submit = createFakeSubmit()
  const timers: (() => void)[] = []
  const alone: boolean[] = []
  const gatherOne = createGather({
    type: 'interactions',
    submit,
    layout: () => usualLayout,
    lag: createFakeLag(lag),
    batchLimits: { records, bytes: 1000 },
    sendLater: (send, isAlone) => {
      timers.push(send)
      alone.push(isAlone)
    },
    figures: createFigures(createMetrics('edge')),
    now: () => 0,
    log: silent,
  })
  const gather = (...given: Parameters<Gather>) => gatherOne(...given).outcome
  const sent = () => submit.submitted.map(({ batch }) => [...batch.records, ...batch.refusals].length)
  return { submit, timers, alone, gather, gatherOne, sent }
}

it('sends what came within the time as one event, the refused among them', async () => {
  const { submit, timers, gather, sent } = create()
  const answers = [gather('acme', bad), gather('acme', one('a'))]
  expect([timers.length, sent()]).toEqual([1, []])
  timers[0]?.()
  expect(await Promise.all(answers)).toEqual([{ problems: [] }, 'accepted'])
  expect(submit.submitted).toMatchObject([
    {
      batch: { batch: 1, batches: 1, first_index: 0, refusals: [{ index: 0 }], records: [{ index: 1, user_id: 'a' }] },
    },
  ])
})

it('lets an interaction wait for others only while an earlier one of its organisation is on its way', async () => {
  const { timers, alone, gather } = create()
  const first = gather('acme', one('a'))
  timers[0]?.()
  const second = gather('acme', one('b'))
  const other = gather('globex', one('c'))
  expect(alone).toEqual([true, false, true])
  timers[1]?.()
  timers[2]?.()
  await Promise.all([first, second, other])
  await new Promise(setImmediate)
  void gather('acme', one('d'))
  expect(alone).toEqual([true, false, true, true])
})

it('does not wait when an event is full, and cuts one that is too large', async () => {
  const { timers, gather, sent } = create()
  const full = ['a', 'b', 'c'].map((name) => gather('acme', one(name)))
  await Promise.all(full)
  expect(sent()).toEqual([3])
  timers[0]?.()
  const large = [gather('acme', one('d', 'x'.repeat(700))), gather('acme', one('e', 'x'.repeat(700)))]
  expect(sent()).toEqual([3, 1])
  timers[1]?.()
  expect(sent()).toEqual([3, 1])
  timers[2]?.()
  await Promise.all(large)
  expect(sent()).toEqual([3, 1, 1])
})

it('gives each interaction at once a request id of its own, which its batch and place can be told from', async () => {
  const { submit, gatherOne } = create(3)
  const gathered = [one('a'), bad, one('c'), one('d')].map((given) => gatherOne('acme', given))
  expect(new Set(gathered.map(({ requestId }) => requestId)).size).toBe(4)
  await gathered[0]?.outcome
  const [sent] = submit.submitted
  expect(sent?.batch.gathered).toBe(true)
  expect(gathered.slice(0, 3).map(({ requestId }) => placeOfInteraction(requestId))).toEqual(
    [0, 1, 2].map((index) => ({ gatheredId: sent?.batch.request_id, index })),
  )
})

it('lets an interaction with an Idempotency-Key keep the request id of its key, and tells it in the event', async () => {
  const { submit, timers, gatherOne } = create(10)
  const given = [
    one('a'),
    { ...one('b'), keyedRequestId: 'of key b' },
    { ...bad, keyedRequestId: 'of key c' },
    one('d'),
  ]
  const gathered = given.map((each) => gatherOne('acme', each))
  timers[0]?.()
  await gathered[0]?.outcome
  expect(gathered.slice(1, 3).map(({ requestId }) => requestId)).toEqual(['of key b', 'of key c'])
  expect(placeOfInteraction(String(gathered[3]?.requestId)).index).toBe(3)
  expect(submit.submitted[0]?.batch.keyed_requests).toEqual([
    { index: 1, request_id: 'of key b' },
    { index: 2, request_id: 'of key c' },
  ])
})

it('does not wait at all where a batch holds one record', async () => {
  const { gather, sent } = create(1)
  expect(await Promise.all([gather('acme', one('a')), gather('acme', one('b'))])).toEqual(['accepted', 'accepted'])
  expect(sent()).toEqual([1, 1])
})

it('answers everyone when submitting breaks', async () => {
  const { submit, timers, gather } = create()
  submit.problemsOf = () => {
    throw new Error('broken')
  }
  const answer = gather('acme', one('a'))
  timers[0]?.()
  expect(await answer).toBe('unknown')
})

it('says so where nothing can be sent, and troubles nobody with what was refused anyway', async () => {
  const { submit, timers, gather } = create()
  submit.problemsOf = () => {
    throw new Unavailable('not yet')
  }
  const answers = [gather('acme', bad), gather('acme', one('a'))]
  timers[0]?.()
  expect(await Promise.allSettled(answers)).toMatchObject([
    { status: 'fulfilled', value: 'unknown' },
    { status: 'rejected', reason: { message: 'not yet' } },
  ])
})

it('gathers interactions with keys by the partition of their ids, and the others by their organisation', async () => {
  const { submit, timers, gather } = create(10)
  const ids = Array.from({ length: 8 }, (_, n) => `00000000-0000-4000-8000-00000000000${n}`)
  const answers = [...ids.map((id) => gather('acme', keyed(id))), gather('acme', one('a')), gather('acme', bad)]
  for (const send of timers) send()
  await Promise.all(answers)
  const gathered = submit.submitted.map(({ batch, lane }) => ({ ...batch, lane }))
  const [plain, ...others] = gathered.filter(({ records }) => !records[0]?.keyed_sha256)
  expect([others, plain?.records.length, plain?.refusals.length]).toEqual([[], 1, 1])
  const partitions = gathered
    .filter((batch) => batch !== plain)
    .map(({ records }) => [...new Set(records.map((record) => partitionOf(String(record.interaction_id), 4)))])
  expect(partitions.every((each) => each.length === 1)).toBe(true)
  expect(gathered.filter((batch) => batch !== plain).map(({ lane }) => lane)).toEqual(partitions.flat())
  expect(plain?.lane).toBeUndefined()
  expect(partitions.flat().sort()).toEqual([...new Set(ids.map((id) => partitionOf(id, 4)))].sort())
})

it('puts no two API keys into one event, and names the key', async () => {
  const { submit, timers, gather } = create(10)
  const sentWith = (keyId: string | null, name: string) => gather('acme', { ...one(name), keyId })
  const answers = [sentWith('k1', 'a'), sentWith('k2', 'b'), sentWith('k1', 'c'), sentWith(null, 'd')]
  for (const send of timers) send()
  await Promise.all(answers)
  expect(
    submit.submitted.map(({ batch }) => [batch.key_id ?? null, batch.records.map((each) => each.user_id)]),
  ).toEqual([
    ['k1', ['a', 'c']],
    ['k2', ['b']],
    [null, ['d']],
  ])
})

it('leads interactions around a partition that does not move; those with a key have to wait', async () => {
  const id = '00000000-0000-4000-8000-000000000000'
  const stuck = partitionOf(id, 4)
  const { submit, timers, gather } = create(10, {
    wayAround: () => 2,
    isBehind: (_type, { lane }) => lane === stuck,
  })
  const answers = [gather('acme', one('a')), gather('acme', keyed(id)), gather('acme', bad)]
  for (const send of timers) send()
  expect(await Promise.allSettled(answers)).toMatchObject([
    { status: 'fulfilled', value: 'accepted' },
    { status: 'rejected', reason: { message: expect.stringContaining('still to be decided') } },
    { status: 'fulfilled' },
  ])
  expect(submit.submitted.map(({ lane }) => lane)).toEqual([2])
})
