import { expect, it } from 'vitest'
import type { Followed } from '../observe/feed-follower.js'
import type { Row } from '../observe/observed.js'
import type { Seen } from '../observe/topics.js'
import { checkAll } from './check-all.js'
import { erasedWorld, goodWorld, type World } from './good-world.js'

const namesIn = ({ ledger, observed }: World): string[] => [
  ...new Set(checkAll(ledger, observed).map(({ name }) => name)),
]

it('finds nothing where all is well', () => {
  const { ledger, observed } = goodWorld()
  expect(checkAll(ledger, observed)).toEqual([])
})

const eventsOn = ({ observed }: World, topic: string): Seen[] => observed.topics.filter((seen) => seen.topic === topic)
const without = (world: World, isGone: (seen: Seen) => boolean): void => {
  world.observed.topics = world.observed.topics.filter((seen) => !isGone(seen))
}
const again = (world: World, topic: string, change: Partial<Seen> & { value?: Record<string, unknown> }): void => {
  const last = eventsOn(world, topic).at(-1) as Seen
  const value = { ...last.value, ...change.value }
  world.observed.topics.push({ ...last, offset: 1000, bytes: JSON.stringify(value), ...change, value })
}

const spliceFeed = (observed: World['observed'], id: string, version: number): void => {
  observed.feeds = observed.feeds.filter((each) => each.id !== id || each.version !== version)
}

const uploadOf = ({ uploads }: World['ledger'], batch: string) =>
  uploads.flatMap(({ batches }) => batches).find(({ batchId }) => batchId === batch)

const waitsAt = ({ waits }: World['observed'], n: number, change: object) => Object.assign(waits[n] ?? {}, change)

const orderAt = ({ retries }: World['ledger'], n: number, change: object) =>
  Object.assign(retries[0]?.orders[n] ?? {}, change)

const spoiled: [name: string, spoil: (world: World) => void][] = [
  ['surprising-answer', ({ ledger }) => ledger.surprises.push('409')],
  ['told-differently', ({ ledger }) => ledger.tellings.get('b1')?.add('{"status":200}')],
  ['wrong-verdict', ({ ledger }) => Object.assign(ledger.uploads[0]?.step.records[0] ?? {}, { expected: 'invalid' })],
  ['wrong-verdict', ({ ledger }) => Object.assign(ledger.interactions[0]?.step ?? {}, { expected: 'invalid' })],

  ['lost-from-view', ({ observed }) => observed.views.shops?.pop()],
  ['twice-in-view', ({ observed }) => observed.views.shops?.push({ org_id: 'acme', shop_id: 'a', name: 'new' })],
  ['stale-in-view', ({ observed }) => Object.assign(observed.views.shops?.[0] ?? {}, { name: 'old' })],
  ['deleted-in-view', ({ observed }) => observed.views.shops?.push({ org_id: 'acme', shop_id: 'b', name: 'gone' })],
  ['stranger-in-view', ({ observed }) => observed.views.shops?.push({ org_id: 'acme', shop_id: 'c' })],

  ['lost-from-topic', (world) => without(world, ({ value }) => value.name === 'old' && value.batch_id === 'b1')],
  ['wrong-on-topic', (world) => Object.assign(eventsOn(world, 'weir.accepted.shops')[0]?.value ?? {}, { name: 'x' })],
  ['differing-events', (world) => again(world, 'weir.accepted.shops', { bytes: 'other bytes' })],
  ['differing-events', (world) => again(world, 'weir.accepted.shops', { value: { request_id: 'r9' } })],
  ['decided-again', (world) => again(world, 'weir.accepted.shops', { value: { accepted_at: 1 } })],
  ['stranger-on-topic', (world) => again(world, 'weir.accepted.shops', { value: { batch_id: 'b9' } })],
  // The same write with another version.
  ['stranger-on-topic', (world) => again(world, 'weir.accepted.shops', { value: { version: 16_386 } })],
  // A sleeper's event.
  [
    'late-event',
    (world) => world.observed.topics.push({ ...(eventsOn(world, 'weir.accepted.shops')[0] as Seen), offset: 1000 }),
  ],
  ['clickhouse-disagrees', ({ observed }) => observed.versions.set('shops acme/a', 8192)],
  ['clickhouse-disagrees', ({ observed }) => observed.versions.delete('shops acme/b')],
  ['history-disagrees', ({ observed }) => observed.histories.set('shops acme/a', [16_384])],
  ['history-disagrees', ({ observed }) => observed.histories.set('shops acme/a', [8192, 8192, 16_384])],

  ['lost-from-feed', ({ observed }) => observed.feeds.pop()],
  ['lost-from-feed', ({ observed }) => spliceFeed(observed, 'a', 16_384)],
  ['stranger-in-feed', ({ observed }) => observed.feeds.push({ ...(observed.feeds[0] as Followed), id: 'z' })],
  ['stranger-in-feed', ({ observed }) => observed.feeds.push({ ...(observed.feeds[0] as Followed), version: 99_999 })],
  ['disorder-in-feed', ({ observed }) => observed.feeds.reverse()],

  ['lost-rejection', ({ observed }) => observed.rejections.shift()],
  ['rejected-twice', ({ observed }) => observed.rejections.push({ ...goodWorld().observed.rejections[0] } as never)],
  ['wrong-rejection', ({ observed }) => Object.assign(observed.rejections[0] ?? {}, { codes: ['bad_format'] })],
  ['rejected-topic-disagrees', (world) => without(world, ({ topic }) => topic === 'weir.rejected')],
  ['rejected-topic-disagrees', (world) => again(world, 'weir.rejected', { value: { version: 1 } })],
  ['stranger-in-rejections', (world) => again(world, 'weir.rejected', { value: { index: 0 } })],
  ['stranger-in-rejections', ({ observed }) => Object.assign(observed.rejections[0] ?? {}, { index: 2 })],

  ['no-verdict', ({ observed }) => observed.verdicts.shift()],
  ['verdict-disagrees', ({ observed }) => Object.assign(observed.verdicts[0] ?? {}, { accepted: 3 })],
  ['verdict-disagrees', ({ observed }) => Object.assign(observed.verdicts[0] ?? {}, { refused: [] })],
  ['verdict-not-told', (world) => without(world, ({ topic, key }) => topic === 'weir.verdicts' && key === 'b2')],
  ['differing-verdicts', (world) => again(world, 'weir.verdicts', { value: { accepted: 0 } })],
  ['differing-verdicts', (world) => again(world, 'weir.verdicts', { value: { decided_at: 1 } })],
  ['verdict-not-stored', (world) => again(world, 'weir.verdicts', { value: { batch_id: 'b9' } })],
  ['stranger-verdict', ({ ledger }) => ledger.uploads.pop()],

  ['request-disagrees', ({ observed }) => observed.requests.delete('r1')],
  ['request-disagrees', ({ observed }) => observed.requests.set('r1', observed.requests.get('r2') as never)],

  ['request-disagrees', ({ observed }) => observed.requests.delete('r3')],
  ['request-disagrees', ({ observed }) => observed.requests.set('r4', observed.requests.get('r3') as never)],
  [
    'request-disagrees',
    ({ ledger, observed }) => {
      Object.assign(ledger.interactions[0] ?? {}, { isOneOfMany: true })
      Object.assign(observed.requests.get('r3')?.batches[0] ?? {}, { status: 202 })
    },
  ],
  ['rejected-under-another-id', ({ observed }) => Object.assign(observed.rejections[1] ?? {}, { request_id: 'r9' })],

  ['lost-from-view', ({ observed }) => observed.views.interactions?.pop()],
  ['twice-in-view', ({ observed }) => observed.views.interactions?.push({ org_id: 'acme', user_id: 'm1' })],
  ['stranger-in-view', ({ observed }) => observed.views.interactions?.push({ org_id: 'acme', user_id: 'm2' })],
  // Of the doubtful one, which is not on the topic.
  ['stranger-in-view', ({ observed }) => observed.views.interactions?.push({ org_id: 'acme', user_id: 'm3' })],
  ['lost-from-topic', (world) => without(world, ({ topic }) => topic === 'weir.interactions')],
  ['stranger-on-topic', (world) => again(world, 'weir.interactions', { value: { user_id: 'm2' } })],
  // The doubtful one was written, and is not shown.
  ['lost-from-view', (world) => again(world, 'weir.interactions', { value: { user_id: 'm3' } })],
  ['differing-events', (world) => again(world, 'weir.interactions', { value: { interaction_id: 'i2' } })],
  [
    'told-differently',
    ({ observed }) => Object.assign(observed.views.interactions?.[0] ?? {}, { interaction_id: 'i2' }),
  ],
  ['lost-rejection', ({ observed }) => observed.rejections.pop()],
  ['rejected-twice', ({ observed }) => observed.rejections.push({ ...observed.rejections[1] } as never)],
  [
    'stranger-in-rejections',
    ({ observed }) => Object.assign(observed.rejections[1] ?? {}, { record: '{"user_id":"m1"}' }),
  ],
  ['wrong-verdict', ({ ledger }) => ledger.uploads[2]?.batches[0]?.waited.pop()],
  ['wrong-verdict', ({ ledger }) => Object.assign(ledger.interactions[0] ?? {}, { outcome: 'waits' })],
  ['verdict-disagrees', ({ observed }) => Object.assign(observed.verdicts[3] ?? {}, { waiting: [{ index: 0 }] })],
  ['differing-verdicts', (world) => again(world, 'weir.verdicts', { value: { waiting: [{ index: 0 }] } })],
  // Decided anew, and nobody knows what for.
  ['stranger-verdict', ({ observed }) => Object.assign(observed.verdicts[5] ?? {}, { request_id: 'r9' })],
  ['request-disagrees', ({ observed }) => observed.requests.get('r5')?.batches[0]?.data.waited?.pop()],
  ['request-disagrees', ({ observed }) => waitsAt(observed, 1, { state: 'accepted' })],
  ['lost-waiting', ({ observed }) => observed.waits.pop()],
  ['stranger-waiting', ({ ledger }) => ledger.uploads.splice(2, 1)],
  ['wrong-end-of-waiting', ({ observed }) => waitsAt(observed, 0, { state: 'waiting' })],
  ['wrong-end-of-waiting', ({ observed }) => waitsAt(observed, 0, { state: 'refused' })],
  // Replaced by nothing.
  ['wrong-end-of-waiting', ({ ledger }) => ledger.uploads.splice(3, 1)],
  ['lost-from-topic', (world) => without(world, ({ value }) => value.offer_id === 'x')],
  ['lost-from-view', ({ observed }) => observed.views.offers?.shift()],
  // Released twice: with a second event, or without one.
  ['stranger-on-topic', (world) => again(world, 'weir.accepted.offers', { value: { version: 32_768 } })],
  ['released-wrongly', ({ observed }) => Object.assign(observed.verdicts[5] ?? {}, { accepted: 2 })],
  // The replaced one was accepted all the same, after the newer one.
  ['out-of-order', ({ observed }) => waitsAt(observed, 1, { state: 'accepted', accepted_version: 24_577 })],
  ['waiting-disagrees', ({ observed }) => observed.waitingLog.pop()],
  ['waiting-disagrees', ({ observed }) => observed.waitingLog.push({ ...observed.waitingLog[0] } as never)],
  ['waiting-disagrees', (world) => without(world, ({ value }) => value.state === 'superseded')],
  ['waiting-disagrees', (world) => again(world, 'weir.waiting', { value: { state: 'waiting', version: 9 } })],
  // What waited in vain: accepted all the same, not among the rejections, or there for another reason.
  ['wrong-end-of-waiting', ({ observed }) => waitsAt(observed, 2, { state: 'accepted' })],
  ['refused-too-early', ({ observed }) => waitsAt(observed, 2, { is_early: true })],
  ['wrong-end-of-waiting', ({ observed }) => waitsAt(observed, 2, { state: 'superseded' })],
  ['lost-rejection', ({ observed }) => observed.rejections.splice(2, 1)],
  ['wrong-rejection', ({ observed }) => Object.assign(observed.rejections[2] ?? {}, { codes: ['bad_format'] })],
  ['wrong-verdict', ({ ledger }) => ledger.uploads[4]?.batches[0]?.waited.pop()],
  ['request-disagrees', ({ observed }) => observed.requests.get('r8')?.batches[0]?.data.errors?.pop()],
  // Submitted by both orders, by none, given up, not done, decided otherwise, or in two requests.
  ['retried-wrongly', ({ ledger }) => orderAt(ledger, 1, { submitted: 1 })],
  ['retried-wrongly', ({ ledger }) => orderAt(ledger, 0, { submitted: 0 })],
  ['retried-wrongly', ({ ledger }) => orderAt(ledger, 0, { given_up: 1 })],
  ['retried-wrongly', ({ ledger }) => orderAt(ledger, 1, { status: 'running' })],
  ['retried-wrongly', ({ ledger }) => orderAt(ledger, 0, { accepted: 0, refused: 1 })],
  ['retried-wrongly', ({ ledger }) => orderAt(ledger, 1, { requests: [{ request_id: 'r12' }] })],
  ['stranger-interaction', ({ ledger }) => ledger.interactions.pop() && ledger.interactions.shift()],
]

it('finds nothing where somebody was erased', () => {
  const { ledger, observed } = erasedWorld()
  expect(checkAll(ledger, observed)).toEqual([])
})

const spoiledErasures: typeof spoiled = [
  ['not-erased', ({ observed }) => Object.assign(observed.erasures[0] ?? {}, { status: 'running' })],
  ['not-erased', ({ observed }) => observed.erasures.pop()],
  ['left-of-person', ({ observed }) => observed.erasures[0]?.left.push('weir.rejected')],
  ['taken-of-erased', ({ ledger }) => uploadOf(ledger, 'b40')?.refused.pop()],
  ['taken-of-erased', ({ ledger }) => Object.assign(ledger.erasures[0] ?? {}, { doneAt: 10 })],
  ['wrong-verdict', ({ ledger }) => uploadOf(ledger, 'b40')?.refused.splice(0, 1, { index: 1, codes: ['x'] })],
  // Of the other one nothing may be lost, but for what compaction takes of a topic.
  ['lost-from-view', ({ observed }) => observed.views.customers?.shift()],
  ['history-disagrees', ({ observed }) => observed.histories.get('customers acme/bob')?.shift()],
  ['lost-from-topic', (world) => without(world, ({ key }) => key === 'acme/bob')],
  ['lost-from-feed', ({ observed }) => spliceFeed(observed, 'bob', 40 * 8192)],
  ['verdict-not-told', (world) => without(world, ({ topic, key }) => topic === 'weir.verdicts' && key === 'b20')],
  // What stays for sums is there, once, as it was, and without the person; what came back is there, and nothing of before.
  ['lost-for-sums', ({ observed }) => observed.views.transactions?.shift()],
  ['lost-for-sums', ({ observed }) => observed.views.transactions?.push({ ...observed.views.transactions[0] } as Row)],
  ['lost-for-sums', ({ observed }) => observed.views.interactions?.pop()],
  ['lost-for-sums', (world) => without(world, ({ key }) => key === 'acme/p1')],
  ['lost-for-sums', (world) => without(world, ({ key }) => key === 'acme/i5')],
  ['wrong-for-sums', ({ observed }) => Object.assign(observed.views.transactions?.[0] ?? {}, { amount: 8 })],
  ['wrong-for-sums', (world) => again(world, 'weir.accepted.transactions', { value: { amount: 8 } })],
  ['left-of-person', ({ observed }) => Object.assign(observed.views.transactions?.[0] ?? {}, { student_id: 'cy' })],
  ['left-of-person', ({ observed }) => Object.assign(observed.views.interactions?.at(-1) ?? {}, { user_id: 'cy' })],
  ['left-of-person', (world) => again(world, 'weir.accepted.transactions', { value: { student_id: 'cy' } })],
  ['left-of-person', ({ observed }) => observed.erasures[1]?.left.push('subscriber')],
  ['not-back', ({ ledger }) => ledger.uploads.pop()],
  [
    'wrong-verdict',
    ({ ledger }) => ledger.uploads.at(-1)?.batches[0]?.refused.push({ index: 0, codes: ['person_erased'] }),
  ],
  ['lost-from-view', ({ observed }) => observed.views.customers?.splice(1)],
  ['history-disagrees', ({ observed }) => observed.histories.get('customers acme/cy')?.unshift(15 * 8192)],
  [
    'stranger-on-topic',
    (world) => again(world, 'weir.accepted.customers', { value: { batch_id: 'b15', version: 15 * 8192 } }),
  ],
  // What is left of who was erased, where it can be seen.
  ['stranger-in-view', ({ observed }) => observed.views.customers?.push({ org_id: 'acme', customer_id: 'ann' })],
  [
    'stranger-on-topic',
    (world) =>
      again(world, 'weir.accepted.customers', { key: 'acme/ann', value: { batch_id: 'b20', version: 20 * 8192 } }),
  ],
  [
    'stranger-in-feed',
    ({ observed }) =>
      observed.feeds.push({
        ...(observed.feeds.find(({ id }) => id === 'ann') as Followed),
        version: 40 * 8192 + 2,
      }),
  ],
]

it.each(spoiledErasures.map(([name, spoil], n) => ({ name, n, spoil })))(
  'finds $name where somebody was erased, spoiling $n',
  ({ name, spoil }) => {
    const world = erasedWorld()
    spoil(world)
    expect(namesIn(world)).toContain(name)
  },
)

it.each(spoiled.map(([name, spoil], n) => ({ name, n, spoil })))('finds $name, spoiling $n', ({ name, spoil }) => {
  const world = goodWorld()
  spoil(world)
  expect(namesIn(world)).toContain(name)
})
