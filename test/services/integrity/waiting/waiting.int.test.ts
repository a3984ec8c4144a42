import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { expect, it, onTestFinished, vi } from 'vitest'
import { insertForgotten, markForgotten } from '#ledger/mending/forgotten-verdicts.js'
import { findDecidedBetween, findVerdicts } from '#ledger/verdicts.js'
import { cancelWaits, findWaitsOfBatches } from '#ledger/waiting/look-up.js'
import { checkWaits, findMoment } from '#ledger/waiting/relay.js'
import { hasValue } from '#platform/kafka/kafka.js'
import { type Connection, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { rowsOf } from '#platform/postgres/rows.js'
import type { Registry } from '#platform/registry.js'
import { catalogue } from '#schemas/catalogue.js'
import { createEventsOf } from '#schemas/derive/decided-events.js'
import { submittedTopic } from '#schemas/derive/names.js'
import type { SubmittedBatch, WaitingEvent } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { branch } from '#schemas/records/branch.js'
import { interaction } from '#schemas/records/interaction.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { shopTag } from '#schemas/records/shop-tag.js'
import { tag } from '#schemas/records/tag.js'
import { createEntityIndex } from '../../../../services/integrity/entity-index.js'
import { createReadBatch, type ReadBatch, type Scanned } from '../../../../services/integrity/read-batch.js'
import { takeDecisions } from '../../../../services/integrity/take-decisions.js'
import { createRelayTurn } from '../../../../services/integrity/waiting/relay.js'
import { createResumeBytes, type ResumeBytes } from '../../../../services/integrity/waiting/resume.js'
import { createRoomToWait } from '../../../../services/integrity/waiting/room.js'
import { batchOf, refusalOf, submittedMessage } from '../../../support/batch.js'
import { eventually } from '../../../support/eventually.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'
import { sampleOf } from '../../../support/sample.js'
import { sized } from '../../../support/sized.js'

// Everything but Kafka: lanes in memory, which the relay appends to and which are decided in a real Postgres.

const { pool } = await openMigratedDatabase()
const schemaId = 7
const types = [shop, branch, offer, tag, shopTag, interaction]
/** All messages are of this version, so that nothing else is asked of a registry. */
const registryOf = (type: RecordType) =>
  ({
    prepare: async () => schemaId,
    encoder: async () => (batch: SubmittedBatch) => submittedMessage(type, batch, schemaId),
    decoder: () => async () => {
      throw new Error('a message of another version')
    },
  }) as unknown as Registry
const readers = new Map<string, ReadBatch>()
for (const type of types) readers.set(type.type, await createReadBatch(type, registryOf(type)))
const bytes = new Map<string, ResumeBytes>()
for (const type of types) {
  const read = readers.get(type.type)
  if (read) bytes.set(type.type, await createResumeBytes(type, registryOf(type), read))
}

// Milliseconds by which what counts seldom is ahead of the clock.
let ahead = 0

let systems = 0
/** A system of its own: an organisation, lanes, and a clock. */
const newSystem = ({ room = 100, bytes: mostBytes = 1_000_000, lookAfter = 0 } = {}) => {
  const org = `org-${systems}`
  const partition = systems++
  const start = Date.UTC(2026, 5, 1)
  const clock = { now: start }
  const lanes = new Map<string, Buffer[]>()
  const cursors = new Map<string, number>()
  const told: WaitingEvent[] = []
  const roomToWait = createRoomToWait({ records: room, bytes: mostBytes }, () => performance.now() + ahead)
  const dies: { at: string | undefined } = { at: undefined }
  const index = createEntityIndex(1000)
  const laneOf = (topic: string) => lanes.get(topic) ?? (lanes.set(topic, []).get(topic) as Buffer[])
  const hooks: { onSent?: () => Promise<unknown> } = {}
  /** A relay: the one that this process runs, or one of another process. */
  const newRelay = (now: { now?: () => number } = { now: () => clock.now }) =>
    createRelayTurn({
      pool: pool as Pool,
      bytesOf: (type) => bytes.get(type) as ResumeBytes,
      placeOf: ({ topic, partition: to }) => ({ topic, partition: to }),
      producer: {
        send: async (topic, to, messages) => {
          // Other tests of this file may have left something to be sent.
          if (to !== partition || topic === 'weir.waiting') return
          laneOf(topic).push(...messages.filter(hasValue).map(({ value }) => value))
          await hooks.onSent?.()
        },
      },
      encodeWaiting: (event) => {
        if (event.org_id === org) told.push(event)
        return Buffer.alloc(0)
      },
      waitingPartitions: 1,
      failAt: (point) => {
        if (point !== dies.at) return
        dies.at = undefined
        throw new Error(`died ${point}`)
      },
      log: pino({ level: 'silent' }),
      ...now,
      pace: { lookAfter, tellEvery: 0, tellAfter: 0, overtakenEvery: 0 },
    })
  const turn = newRelay()

  /** Decides what has come to a lane since the last time, in a transaction of the caller's or in one of its own. */
  const takeIn = async (connection: Connection, type: RecordType) => {
    const topic = submittedTopic(type.type)
    const first = cursors.get(topic) ?? 0
    const messages = laneOf(topic).slice(first)
    const read = readers.get(type.type)
    const submitted: Scanned[] = []
    for (const [n, message] of messages.entries()) {
      if (read) submitted.push({ offset: first + n, timestamp: clock.now, batch: await read(message) })
    }
    const at = { topic, partition, type, isReferenced: catalogue.referenced.has(type.type) }
    const span = { ...at, first, next: first + messages.length }
    const keep = ({ batch }: Scanned) => (bytes.get(type.type) as ResumeBytes).keep(batch)
    const taken = await takeDecisions(connection, index, span, submitted, clock.now, { room: roomToWait, keep })
    return { ...taken, next: span.next }
  }
  const decide = async (type: RecordType) => {
    const { outcomes, entities, next, waits } = await inTransaction(pool, (c) => takeIn(c, type))
    index.remember(entities)
    cursors.set(submittedTopic(type.type), next)
    for (const begun of waits.begun) roomToWait.taken(begun)
    return outcomes
  }
  return {
    org,
    clock,
    dies,
    told,
    turn,
    newRelay,
    hooks,
    takeIn,
    decide,
    until: start + 60_000,
    /** Turns until nothing is left to do: transactions of other tests may have to end first. */
    relay: async (by = turn) => {
      await eventually(async () => expect(await by()).toBe('nothing'))
    },
    append: (type: RecordType, ...batches: SubmittedBatch[]) =>
      laneOf(submittedTopic(type.type)).push(...batches.map((batch) => submittedMessage(type, batch, schemaId))),
    upload: async (type: RecordType, records: Record<string, unknown>[], over: Partial<SubmittedBatch> = {}) => {
      const batch = batchOf(type, records, { org_id: org, submitted_at: clock.now, ...over })
      laneOf(submittedTopic(type.type)).push(submittedMessage(type, batch, schemaId))
      return { batch, verdict: (await decide(type))[0]?.verdict }
    },
    /** As after a failover to a standby that had nothing of this lane, and what the runbook says to do then. */
    forget: async (type: RecordType) => {
      const at = { topic: submittedTopic(type.type), partition }
      const until = cursors.get(at.topic) ?? 0
      const published = await findVerdicts(
        pool,
        (await findDecidedBetween(pool, { ...at, from: 0, until })).map(({ batch_id }) => batch_id),
      )
      for (const table of ['verdicts', 'waiting', 'cursors'])
        await pool.query(`delete from integrity.${table} where topic = $1 and partition = $2`, [at.topic, partition])
      await pool.query('delete from integrity.waiting_for where org_id = $1', [org])
      await insertForgotten(pool, [...published.values()])
      await markForgotten(pool, { ...at, from: 0, until })
      cursors.set(at.topic, 0)
    },
    stateOf: async (batch: SubmittedBatch) =>
      (await findWaitsOfBatches(pool, [batch.batch_id])).map(({ state }) => state),
    pending: (type: RecordType) =>
      laneOf(submittedTopic(type.type)).length - (cursors.get(submittedTopic(type.type)) ?? 0),
  }
}

it('accepts a record that waited when what it refers to comes, as the record of its request', async () => {
  const { org, upload, relay, decide, stateOf, told, until, pending } = newSystem()
  const given = sampleOf(branch)
  const { batch, verdict } = await upload(branch, [sampleOf(branch), given], { wait_until: until, first_index: 500 })
  expect(verdict).toMatchObject({ accepted: 0, refused: [], waiting: [{ index: 0 }, { index: 1 }] })
  await relay()
  expect(pending(branch)).toBe(0)
  expect(told.map(({ state }) => state)).toEqual(['waiting', 'waiting'])

  await upload(shop, [sampleOf(shop, { shop_id: given.shop_id })])
  await relay()
  expect(pending(branch)).toBe(1)
  const [resumed] = await decide(branch)
  if (!resumed) throw new Error('nothing was decided')
  expect(resumed.verdict).toMatchObject({ accepted: 1, refused: [], repeated: [] })
  const [event] = createEventsOf(branch).accepted(resumed.batch, resumed.verdict)
  expect(event).toMatchObject({ org_id: org, request_id: batch.request_id, batch_id: batch.batch_id })
  expect(event?.version).toBe(8192)
  expect(await stateOf(batch)).toEqual(['waiting', 'accepted'])
  await relay()
  expect(told.map(({ state, index }) => [state, index]).slice(2)).toEqual([['accepted', 501]])
  // Nothing is left of it, and nothing is sent again.
  expect(pending(branch)).toBe(0)
  expect(await countOf('integrity.waiting_arrived', org)).toBe(0)
  expect(await countOf('integrity.waiting_for', org)).toBe(1)
})

const countOf = async (table: string, org: string) =>
  (await pool.query<{ count: number }>(`select count(*) as count from ${table} where org_id = $1`, [org])).rows[0]
    ?.count

it('goes down a chain: what was released releases what waited for it', async () => {
  const { upload, relay, decide, stateOf, until } = newSystem()
  const [shops, offers] = [sampleOf(shop), sampleOf(offer)]
  offers.shop_id = shops.shop_id
  const ofOffer = sampleOf(interaction, { student_id: null, item_type: 'OFFER', item_id: offers.offer_id })
  const first = await upload(interaction, [ofOffer], { wait_until: until })
  const second = await upload(offer, [offers], { wait_until: until })
  await upload(shop, [shops])
  await relay()
  await decide(offer)
  await relay()
  await decide(interaction)
  expect(await stateOf(second.batch)).toEqual(['accepted'])
  expect(await stateOf(first.batch)).toEqual(['accepted'])
})

it('goes on waiting for what is still missing, and is refused when its time is over', async () => {
  const { upload, relay, decide, stateOf, clock, until } = newSystem()
  const given = sampleOf(interaction, { item_type: 'SHOP' })
  const { batch, verdict } = await upload(interaction, [given], { wait_until: until })
  const missing = verdict?.waiting?.[0]?.for.map(({ type }) => type) ?? []
  expect(missing).toContain('shops')
  expect(missing.length).toBeGreaterThan(1)
  await upload(shop, [sampleOf(shop, { shop_id: given.item_id })])
  await relay()
  const [first] = await decide(interaction)
  expect(first?.verdict.waiting?.[0]?.for.map(({ type }) => type)).toEqual(missing.filter((type) => type !== 'shops'))
  expect(await stateOf(batch)).toEqual(['waiting'])

  clock.now = until
  await relay()
  const [last] = await decide(interaction)
  if (!last) throw new Error('nothing was decided')
  expect(last.verdict).toMatchObject({ accepted: 0 })
  expect(last.verdict.waiting).toBeUndefined()
  const [rejection] = createEventsOf(interaction).rejected(last.batch, last.verdict)
  expect(rejection).toMatchObject({ batch_id: batch.batch_id, index: 0, problems: [{ code: 'unknown_reference' }] })
  expect(rejection?.problems[0]?.message).toContain('waited 60 seconds for it')
  expect(await stateOf(batch)).toEqual(['refused'])
})

it('ends by the clock of Postgres, whatever its host says', async () => {
  const { upload, newRelay, decide, pending, clock } = newSystem()
  const realNow = Date.now()
  clock.now = realNow
  await upload(branch, [sampleOf(branch)], { wait_until: realNow + 3_600_000 })
  const turn = newRelay({})
  vi.spyOn(Date, 'now').mockReturnValue(realNow + 86_400_000)
  onTestFinished(() => void vi.restoreAllMocks())
  await turn()
  expect(pending(branch)).toBe(0)
  await pool.query(`update integrity.waiting set until = now() - interval '1 second' where until > now()`)
  vi.spyOn(Date, 'now').mockReturnValue(realNow - 86_400_000)
  await turn()
  expect(pending(branch)).toBe(1)
  await decide(branch)
})

it('gives way to a newer record of its id, whatever becomes of that one, and is passed over', async () => {
  const { upload, append, decide, relay, stateOf, until, org } = newSystem()
  const given = sampleOf(branch)
  const first = await upload(branch, [given], { wait_until: until })
  await upload(shop, [sampleOf(shop, { shop_id: given.shop_id })])
  await relay()
  // The resume lies in the lane already; a newer version with an unknown shop comes behind it, and one that is refused before.
  const [resumed] = await decide(branch)
  expect(resumed?.verdict.accepted).toBe(1)
  expect(await stateOf(first.batch)).toEqual(['accepted'])

  const other = { ...sampleOf(branch) }
  const waits = await upload(branch, [other], { wait_until: until })
  append(branch, batchOf(branch, [], { org_id: org, refusals: [refusalOf(0, String(other.branch_id).toUpperCase())] }))
  await upload(shop, [sampleOf(shop, { shop_id: other.shop_id })])
  await relay()
  const outcomes = await decide(branch)
  expect(outcomes.at(-1)?.verdict).toMatchObject({ accepted: 0, refused: [], gone: [0] })
  expect(await stateOf(waits.batch)).toEqual(['superseded'])
})

it('keeps of several versions in one fetch what became of each', async () => {
  const { append, decide, stateOf, until, org } = newSystem()
  const given = sampleOf(branch)
  const batches = [1, 2, 3].map(() => batchOf(branch, [given], { org_id: org, wait_until: until }))
  append(branch, ...batches)
  await decide(branch)
  expect(await Promise.all(batches.map(stateOf))).toEqual([['superseded'], ['superseded'], ['waiting']])
})

it('gives way to a newer record also where more wait than a fetch has records', async () => {
  const { upload, stateOf, until, org } = newSystem()
  const given = Array.from({ length: 5 }, () => sampleOf(branch))
  const first = await upload(branch, given, { wait_until: until })
  const refusals = [refusalOf(0, 'no uuid'), refusalOf(1, String(given[3]?.branch_id).toUpperCase())]
  const second = await upload(branch, [given[1] ?? {}], { wait_until: until })
  await upload(branch, [], { org_id: org, refusals })
  expect(await stateOf(first.batch)).toEqual(['waiting', 'superseded', 'waiting', 'superseded', 'waiting'])
  expect(await stateOf(second.batch)).toEqual(['waiting'])
})

it('lets no more wait than may', async () => {
  const { upload, until } = newSystem({ room: 2 })
  const records = [sampleOf(branch), sampleOf(branch), sampleOf(branch)]
  const { verdict } = await upload(branch, records, { wait_until: until })
  expect(verdict).toMatchObject({
    waiting: [{ index: 0 }, { index: 1 }],
    refused: [{ index: 2, problems: [{ code: 'too_many_waiting' }, { code: 'unknown_reference' }] }],
  })
  const more = await upload(branch, [sampleOf(branch), records[0] ?? {}], { wait_until: until })
  expect(more.verdict).toMatchObject({ refused: [{ index: 0 }], waiting: [{ index: 1 }] })
})

it('lets no more bytes wait than may: those of what was replaced, cancelled or decided are free again', async () => {
  const large = (name: string) => sampleOf(branch, { name: name.repeat(1000) })
  const first = large('a')
  const probe = newSystem()
  await probe.upload(branch, [first], { wait_until: probe.until })
  const size = await bytesOf(probe.org)
  expect(size).toBeGreaterThan(1000)
  const { upload, relay, decide, until, org, clock } = newSystem({ bytes: 2 * size + 100 })
  const { verdict } = await upload(branch, [first, large('b'), large('c')], { wait_until: until })
  expect(verdict).toMatchObject({
    waiting: [{ index: 0 }, { index: 1 }],
    refused: [{ index: 2, problems: [{ code: 'too_many_waiting' }, { code: 'unknown_reference' }] }],
  })
  expect(verdict?.refused[0]?.problems[0]?.message).toContain('MAX_WAITING_BYTES')
  // The same again takes the place of the first; a larger one of its id does not fit, and one that is left out leaves room for no other.
  expect((await upload(branch, [first], { wait_until: until })).verdict).toMatchObject({ waiting: [{ index: 0 }] })
  const larger = { ...first, name: 'a'.repeat(2000) }
  expect((await upload(branch, [larger], { wait_until: until })).verdict).toMatchObject({ refused: [{ index: 0 }] })
  recounted()
  expect((await upload(branch, [first, large('d')], { wait_until: until })).verdict).toMatchObject({
    waiting: [{ index: 0 }],
    refused: [{ index: 1 }],
  })

  expect(await cancelWaits(pool, { orgId: org }, 1)).toBe(1)
  recounted()
  expect((await upload(branch, [large('e')], { wait_until: until })).verdict).toMatchObject({ waiting: [{ index: 0 }] })
  clock.now = until
  await relay()
  await decide(branch)
  expect(await bytesOf(org)).toBe(0)
  recounted()
  const more = await upload(branch, [large('f'), large('g')], { wait_until: until + 60_000 })
  expect(more.verdict).toMatchObject({ waiting: [{ index: 0 }, { index: 1 }], refused: [] })
})

/** As it counts once a second, and less often where that takes long. */
const recounted = () => {
  ahead += 3_600_000
}
const bytesOf = async (org: string) =>
  (
    await pool.query<{ bytes: number }>(
      "select coalesce(sum(size), 0)::integer as bytes from integrity.waiting where org_id = $1 and state = 'waiting'",
      [org],
    )
  ).rows[0]?.bytes ?? 0

it('passes over what was cancelled, and decides what it is deciding', async () => {
  const { upload, relay, decide, stateOf, until, org } = newSystem()
  const given = sampleOf(branch)
  const { batch } = await upload(branch, [given], { wait_until: until })
  await upload(shop, [sampleOf(shop, { shop_id: given.shop_id })])
  await relay()
  expect(await cancelWaits(pool, { orgId: org }, 10)).toBe(1)
  const [passed] = await decide(branch)
  expect(passed?.verdict).toMatchObject({ accepted: 0, gone: [0] })
  expect(await stateOf(batch)).toEqual(['cancelled'])
})

it('cannot be cancelled while its lane decides it', async () => {
  const { upload, relay, takeIn, stateOf, until, org } = newSystem()
  const given = sampleOf(branch)
  const { batch } = await upload(branch, [given], { wait_until: until })
  await upload(shop, [sampleOf(shop, { shop_id: given.shop_id })])
  await relay()
  await inTransaction(pool, async (connection) => {
    await takeIn(connection, branch)
    expect(await cancelWaits(pool, { orgId: org }, 10)).toBe(0)
  })
  expect(await stateOf(batch)).toEqual(['accepted'])
})

it('takes a keyed interaction once: it waits, comes again, and is accepted', async () => {
  const { upload, relay, decide, append, until, org } = newSystem()
  const given = sampleOf(interaction, { student_id: null, item_type: 'SHOP' })
  const [id, requestId] = [randomUUID(), randomUUID()]
  const keyed = (fill: number) => {
    const over = {
      org_id: org,
      wait_until: until,
      gathered: true,
      keyed_requests: [{ index: 0, request_id: requestId }],
    }
    const batch = batchOf(interaction, [given], over)
    Object.assign(batch.records[0] ?? {}, { interaction_id: id, keyed_sha256: Buffer.alloc(32, fill) })
    return batch
  }
  const first = keyed(1)
  append(interaction, first, keyed(1), keyed(2))
  const verdicts = (await decide(interaction)).map(({ verdict }) => verdict)
  expect(verdicts).toMatchObject([
    { waiting: [{ index: 0 }], repeated: [] },
    { waiting: [{ index: 0 }], repeated: [0] },
    { refused: [{ problems: [{ code: 'idempotency_conflict' }] }] },
  ])
  await upload(shop, [sampleOf(shop, { shop_id: given.item_id })])
  await relay()
  append(interaction, keyed(1))
  const [resumed, again] = await decide(interaction)
  expect(resumed?.verdict).toMatchObject({ accepted: 1, repeated: [] })
  expect(again?.verdict).toMatchObject({ accepted: 1, repeated: [0] })
  expect(again?.verdict.waiting).toBeUndefined()
  const { rows } = await pool.query(
    'select batch_id, is_accepted from integrity.keyed_requests where request_id = $1 order by is_accepted desc',
    [requestId],
  )
  expect(rows[0]).toEqual({ batch_id: first.batch_id, is_accepted: true })
})

it('sends the same once more only when its lane has not come to it for long', async () => {
  const { upload, relay, clock, pending, decide, until } = newSystem()
  const given = sampleOf(branch)
  await upload(branch, [given], { wait_until: until })
  await upload(shop, [sampleOf(shop, { shop_id: given.shop_id })])
  await relay()
  await relay()
  expect(pending(branch)).toBe(1)
  clock.now += 31_000
  await relay()
  expect(pending(branch)).toBe(2)
  clock.now += 31_000
  await relay()
  expect(pending(branch)).toBe(2)
  const verdicts = (await decide(branch)).map(({ verdict }) => verdict)
  expect(verdicts).toMatchObject([{ accepted: 1 }, { accepted: 0, gone: [0] }])
})

it('changes nothing of a new record that it sends: what is to look at it anyway finds it where its lane does not come to it', async () => {
  const { upload, relay, newRelay, clock, pending, decide, until, org } = newSystem({ lookAfter: 2_000 })
  const notedOf = async () =>
    (await pool.query<{ sent: Date | null }>('select sent_at as sent from integrity.waiting where org_id = $1', [org]))
      .rows[0]?.sent
  const given = sampleOf(branch)
  await upload(branch, [given], { wait_until: until })
  await upload(shop, [sampleOf(shop, { shop_id: given.shop_id })])
  await relay()
  expect([pending(branch), await notedOf()]).toEqual([1, null])
  // It is looked at, and known to be on its way: it is noted, and not sent again so soon.
  clock.now += 2_000
  await relay()
  expect([pending(branch), await notedOf()]).toEqual([1, new Date(clock.now)])
  clock.now += 31_000
  await relay()
  expect(pending(branch)).toBe(2)
  expect((await decide(branch)).map(({ verdict }) => verdict.accepted)).toEqual([1, 0])

  // Another relay does not know what the one before it has sent.
  const other = sampleOf(branch)
  await upload(branch, [other], { wait_until: clock.now + 60_000 })
  await upload(shop, [sampleOf(shop, { shop_id: other.shop_id })])
  await relay()
  expect(pending(branch)).toBe(1)
  clock.now += 2_000
  await relay(newRelay())
  expect(pending(branch)).toBe(2)
  expect((await decide(branch)).map(({ verdict }) => verdict.accepted)).toEqual([1, 0])
})

it('is released by the second record that it waits for, also where its lane was faster than the note that it was sent', async () => {
  const { upload, relay, hooks, decide, stateOf, pending, until } = newSystem()
  const given = sampleOf(shopTag)
  const { batch, verdict } = await upload(shopTag, [given], { wait_until: until })
  expect(verdict?.waiting?.[0]?.for.map(({ type }) => type)).toEqual(['shops', 'tags'])
  // It has been looked at, so it is noted when it is sent.
  await relay()
  hooks.onSent = () => decide(shopTag)
  await upload(shop, [sampleOf(shop, { shop_id: given.shop_id })])
  await relay()
  expect([pending(shopTag), await stateOf(batch)]).toEqual([0, ['waiting']])
  await upload(tag, [sampleOf(tag, { tag_id: given.tag_id })])
  await relay()
  expect(await stateOf(batch)).toEqual(['accepted'])
})

it.each(['before-resume-sent', 'after-resume-sent', 'before-waiting-published', 'after-waiting-published'])(
  'is released once, and told, by a relay that follows one that died %s',
  async (point) => {
    const { upload, relay, decide, turn, dies, told, until, stateOf } = newSystem()
    const given = sampleOf(branch)
    const { batch } = await upload(branch, [given], { wait_until: until })
    await upload(shop, [sampleOf(shop, { shop_id: given.shop_id })])
    dies.at = point
    await expect(turn()).rejects.toThrow(`died ${point}`)
    await relay()
    const verdicts = (await decide(branch)).map(({ verdict }) => verdict)
    expect(verdicts.map(({ accepted }) => accepted)).toEqual(point === 'after-resume-sent' ? [1, 0] : [1])
    await relay()
    expect(await stateOf(batch)).toEqual(['accepted'])
    expect(new Set(told.map(({ state }) => state))).toEqual(new Set(['waiting', 'accepted']))
  },
)

it('refuses what waited while an integrity that knows nothing of waiting decided a newer record of its id', async () => {
  const { upload, append, relay, decide, stateOf, told, until, org } = newSystem()
  const given = sampleOf(branch)
  const other = sampleOf(branch)
  const { batch } = await upload(branch, [given, other], { wait_until: until })
  const newer = batchOf(branch, [sampleOf(branch, { branch_id: given.branch_id })], { org_id: org })
  append(branch, newer)
  await decideWithoutWaiting(newer, 1, batch.batch_id)

  const [again] = await decide(branch)
  expect(again).toMatchObject({ isTheOneDecided: true, verdict: { accepted: 1 } })
  await upload(shop, [sampleOf(shop, { shop_id: given.shop_id })])
  await relay()
  const events = createEventsOf(branch)
  const resumed = await decide(branch)
  expect(resumed.flatMap(({ batch, verdict }) => events.accepted(batch, verdict))).toEqual([])
  expect(resumed.flatMap(({ batch, verdict }) => events.rejected(batch, verdict))).toMatchObject([
    { batch_id: batch.batch_id, index: 0, problems: [{ code: 'overtaken', field: null }] },
    { batch_id: batch.batch_id, index: 1, problems: [{ code: 'overtaken', field: null }] },
  ])
  expect(await stateOf(batch)).toEqual(['refused', 'refused'])
  await relay()
  expect(told.at(-1)?.state).toBe('refused')

  // What begins to wait from then on is accepted as ever, also once nothing is left that could have been overtaken.
  const late = sampleOf(branch)
  const waits = await upload(branch, [late], { wait_until: until })
  await upload(shop, [sampleOf(shop, { shop_id: late.shop_id })])
  await relay()
  expect((await decide(branch))[0]?.verdict.accepted).toBe(1)
  expect(await stateOf(waits.batch)).toEqual(['accepted'])
  expect((await pool.query('select from integrity.cursors where overtaken_until > 0')).rowCount).toBe(0)
})

/** The statements of a version from before integrity.waiting, in the lane of a batch that waits. */
const decideWithoutWaiting = async (batch: SubmittedBatch, offset: number, waiting: string): Promise<void> => {
  const { rows } = await pool.query('select distinct topic, partition from integrity.waiting where batch_id = $1', [
    waiting,
  ])
  const { topic, partition } = rows[0] as { topic: string; partition: number }
  await pool.query(
    `insert into integrity.verdicts (batch_id, org_id, request_id, type, batch, batches, first_index, body_sha256,
      accepted, refused, repeated, decided_at, topic, partition, submitted_offset)
    values ($1, $2, $3, 'branches', 1, 1, 0, $4, 1, '[]', '{}', now(), $5, $6, $7)`,
    [batch.batch_id, batch.org_id, batch.request_id, batch.body_sha256, topic, partition, offset],
  )
  await pool.query('update integrity.cursors set next_offset = $3 where topic = $1 and partition = $2', [
    topic,
    partition,
    offset + 1,
  ])
}

it('sends all that wait for one record, however many they are', async () => {
  const { upload, relay, decide, until, org, stateOf } = newSystem({ room: 1000 })
  const shopId = randomUUID()
  const records = Array.from({ length: 350 }, () => sampleOf(branch, { shop_id: shopId }))
  const { batch } = await upload(branch, records, { wait_until: until })
  await upload(shop, [sampleOf(shop, { shop_id: shopId })])
  await relay()
  const accepted = (await decide(branch)).reduce((sum, { verdict }) => sum + verdict.accepted, 0)
  expect(accepted).toBe(350)
  expect(new Set(await stateOf(batch))).toEqual(new Set(['accepted']))
  expect(await countOf('integrity.waiting_arrived', org)).toBe(0)
})

it('finds what came at the same moment: neither decision saw the other', async () => {
  const { upload, takeIn, decide, relay, append, pending, until, org } = newSystem()
  const given = sampleOf(branch)
  append(shop, batchOf(shop, [sampleOf(shop, { shop_id: given.shop_id })], { org_id: org }))
  await inTransaction(pool, async (connection) => {
    // The shop is decided, and not committed; its transaction is the newest of all, so no snapshot's bound lies beyond it.
    expect((await takeIn(connection, shop)).arrived).toBe(0)
    await upload(branch, [given], { wait_until: until })
    for (let n = 0; n < 3; n++) await relayTurns()
    expect(pending(branch)).toBe(0)
  })
  await relay()
  expect(pending(branch)).toBe(1)
  expect((await decide(branch))[0]?.verdict.accepted).toBe(1)

  async function relayTurns() {
    const moment = await findMoment(pool, Date.now())
    // Too early: the shop's transaction is under way.
    if (moment)
      expect(await checkWaits(pool, moment, { now: Date.now(), before: Date.now(), most: 100 })).toBeUndefined()
  }
})

/** Very many large records of an organisation that are over, or whose missing records have all come; gone when the test is. */
const flood = async (clock: { now: number }, of: 'expired' | 'arrived') => {
  const org = `flood-${randomUUID()}`
  onTestFinished(async () => {
    for (const table of ['waiting', 'waiting_for', 'waiting_arrived'])
      await pool.query(`delete from integrity.${table} where org_id = $1`, [org])
  })
  const until = new Date(clock.now + (of === 'expired' ? -1_000 : 3_600_000))
  await pool.query(
    `insert into integrity.waiting (batch_id, place, org_id, type, id, request_id, request_index, version, topic, partition,
      message, missing, since, until, changed_at, is_told, is_checked)
    select gen_random_uuid(), n, $1, 'branches', gen_random_uuid(), gen_random_uuid(), n, n, 'weir.submitted.branches', 100000,
      decode(repeat('00', 100000), 'hex'), '[]', $2, $2, $2, true, true
    from generate_series(1, ${sized(1000, 5000)}) n`,
    [org, until],
  )
  if (of === 'expired') return
  await pool.query(
    `insert into integrity.waiting_for (org_id, type, id, batch_id, place)
    select org_id, 'shops', gen_random_uuid(), batch_id, place from integrity.waiting where org_id = $1`,
    [org],
  )
  await pool.query(
    `insert into integrity.waiting_arrived (org_id, type, id, arrived_at)
    select org_id, type, id, $2 from integrity.waiting_for where org_id = $1`,
    [org, new Date(clock.now - 1_000)],
  )
}

it.each(['expired', 'arrived'] as const)(
  'is released in the next turn also while very many large ones of another organisation have %s',
  async (of) => {
    const { upload, turn, relay, clock, pending, decide, until } = newSystem()
    const given = sampleOf(branch)
    await upload(branch, [given], { wait_until: until })
    // It has been looked at: from now on only the arrival of its shop leads to it.
    await relay()
    await upload(shop, [sampleOf(shop, { shop_id: given.shop_id })])
    await flood(clock, of)
    await turn()
    expect(pending(branch)).toBe(1)
    expect((await decide(branch))[0]?.verdict.accepted).toBe(1)

    // And so is one whose time is over after those of the other.
    await upload(branch, [sampleOf(branch)], { wait_until: clock.now + 1_000 })
    clock.now += 1_000
    await turn()
    await turn()
    expect(pending(branch)).toBe(1)
  },
)

it('decides what Postgres has forgotten again as it was: what waited, was released or refused, and waits again', async () => {
  const { org, upload, relay, decide, clock, until, forget } = newSystem()
  const [released, late] = [sampleOf(branch), sampleOf(branch)]
  await upload(branch, [released, late], { wait_until: until })
  await upload(shop, [sampleOf(shop, { shop_id: released.shop_id })])
  await relay()
  await decide(branch)
  // A newer version waits for another shop, and its predecessor is accepted; the other one waits in vain.
  await upload(branch, [{ ...released, shop_id: randomUUID() }], { wait_until: until + 60_000 })
  clock.now = until + 1
  await relay()
  await decide(branch)
  await upload(shop, [sampleOf(shop, { shop_id: late.shop_id })])

  const asItWas = async () => ({
    verdicts: await rowsOf(pool, 'select * from integrity.verdicts where org_id = $1 order by type, submitted_offset', [
      org,
    ]),
    waits: await rowsOf<{ state: string }>(
      pool,
      `select batch_id, place, id, state, version, accepted_version, problems, missing, until from integrity.waiting
      where org_id = $1 order by version`,
      [org],
    ),
    waitedFor: await rowsOf(pool, 'select id from integrity.waiting_for where org_id = $1', [org]),
  })
  const before = await asItWas()
  expect(before.waits.map(({ state }) => state)).toEqual(['accepted', 'refused', 'waiting'])
  await forget(branch)
  clock.now += 3_600_000
  await decide(branch)
  expect(await asItWas()).toEqual(before)
})
