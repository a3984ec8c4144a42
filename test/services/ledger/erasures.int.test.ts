import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { beforeAll, expect, it } from 'vitest'
import { listAudit } from '#ledger/audit.js'
import {
  askErasure,
  endErasure,
  failedErasures,
  findErasure,
  forgetSeen,
  lastBegun,
  noteNames,
  noteProblem,
  noteStep,
  reopenErasures,
  repeatErasures,
  runningErasures,
} from '#ledger/erasures/erasures.js'
import { createGateMemory } from '#ledger/erasures/gate-memory.js'
import { closeGate, createGates, hashOfName, noteSeen, openGate, saltOf } from '#ledger/erasures/gates.js'
import { findHoles, findLastErased, noteHoles } from '#ledger/erasures/holes.js'
import { countFailed, failLateErasures } from '#ledger/erasures/late.js'
import { takeUpErasure } from '#ledger/erasures/taken-up.js'
import { createOrg } from '#ledger/organisations.js'
import type { ErasedEvent } from '#schemas/events.js'
import { openMigratedDatabase } from '../../support/migrated-database.js'

const { pool } = await openMigratedDatabase()
beforeAll(async () => {
  for (const org of ['acme', 'other', 'fresh', 'late']) await createOrg(pool, org)
})

const ask = (personId: string, over: object = {}) =>
  askErasure(pool, {
    ...{ orgId: 'acme', personId, mode: 'erase', afterwards: 'refuse', isDryRun: false },
    ...over,
  })
const end = async (erasureId: string) => {
  const erasure = await findErasure(pool, erasureId)
  if (erasure) await endErasure(pool, erasure, { report: '{}', signature: '' })
}

it('is the same erasure while it runs, with what was wished for last; another way or a dry run is another one', async () => {
  const ann = randomUUID()
  const first = await ask(ann)
  expect((await ask(ann.toUpperCase())).erasureId).toBe(first.erasureId)
  expect(await ask(ann, { afterwards: 'new' })).toMatchObject({ erasureId: first.erasureId, afterwards: 'new' })
  expect((await findErasure(pool, first.erasureId))?.afterwards).toBe('new')
  for (const over of [{ mode: 'pseudonymise' }, { isDryRun: true }, { orgId: 'other' }])
    expect((await ask(ann, over)).erasureId).not.toBe(first.erasureId)
  // Other texts than UUIDs are as they are written.
  expect((await ask('ANN')).erasureId).not.toBe((await ask('ann')).erasureId)
})

it('names nobody once it is done', async () => {
  const { erasureId } = await ask('bob')
  await noteNames(pool, [{ erasureId, known: { customerIds: ['bob'], userIds: ['bobby'] }, names: ['00'] }])
  await end(erasureId)
  const { rows } = await pool.query('select e::text as text from erasure.erasures e where erasure_id = $1', [erasureId])
  expect(rows[0].text).not.toMatch(/bob/)
})

it('closes and opens the gate of an organisation, and tells integrity at once and the edge when it looks', async () => {
  const [id, hers] = [randomUUID(), randomUUID()]
  const gates = createGates()
  const memory = createGateMemory(pool, pino({ level: 'silent' }))
  const { erasureId } = await ask(id)
  const isBehind = async (name: string) => {
    const gate = (await gates.of(pool, ['acme'])).get('acme')
    return gate?.hashes.has(hashOfName(gate.salt, name).toString('hex'))
  }
  await memory.look()
  const before = await memory.of('acme')
  await closeGate(pool, 'acme', [
    { name: id, erasureId },
    { name: hers, erasureId },
  ])
  expect([await isBehind(id), await isBehind(hers.toUpperCase()), await isBehind(randomUUID())]).toEqual([
    true,
    true,
    false,
  ])
  const between = await memory.of('acme')
  await memory.look()
  const after = await memory.of('acme')
  expect([between, after?.hashes.size, memory.has('fresh'), await memory.of('fresh')]).toEqual([
    ...[before, (before?.hashes.size ?? 0) + 2, false],
    undefined,
  ])
  await openGate(pool, 'acme', erasureId)
  expect(await isBehind(id)).toBe(false)
})

it('is done once more, some time after a record of the person was refused, and not for what the run itself removes', async () => {
  const id = randomUUID()
  const { erasureId } = await ask(id)
  await closeGate(pool, 'acme', [{ name: id, erasureId }])
  const hash = hashOfName(await saltOf(pool, 'acme'), id).toString('hex')
  const isReopened = async () => {
    await reopenErasures(pool, 3_600)
    return (await findErasure(pool, erasureId))?.status === 'running'
  }
  const longAgo = () =>
    pool.query(`update erasure.persons set seen_at = seen_at - interval '2 hours' where erasure_id = $1`, [erasureId])
  await end(erasureId)
  await noteSeen(pool, [{ orgId: 'acme', hash }])
  expect(await isReopened()).toBe(false)
  await longAgo()
  expect(await isReopened()).toBe(true)
  await forgetSeen(pool, [erasureId])
  await end(erasureId)
  await longAgo()
  expect(await isReopened()).toBe(false)
  await noteSeen(pool, [{ orgId: 'other', hash }])
  await longAgo()
  expect(await isReopened()).toBe(false)
})

it('has failed after a day, and is not forgotten; a count has only failed, and names nobody', async () => {
  const past = (erasureId: string, by: string) =>
    pool.query(`update erasure.erasures set begun_at = begun_at - $2::interval where erasure_id = $1`, [erasureId, by])
  const askLate = (over: object = {}) => ask('late', { orgId: 'late', ...over })
  const [real, dry] = [await askLate(), await askLate({ isDryRun: true })]
  const ids = [real.erasureId, dry.erasureId]
  await noteStep(pool, ids, 'reading the topics')
  await noteProblem(pool, [real.erasureId], 'a topic is away')
  for (const id of ids) await past(id, '23 hours')
  expect(await failLateErasures(pool)).toEqual([])
  for (const id of ids) await past(id, '2 hours')
  expect((await failLateErasures(pool)).map(({ erasureId }) => erasureId).sort()).toEqual(ids.sort())
  expect([await failLateErasures(pool), await countFailed(pool)]).toEqual([[], 1])
  expect(await findErasure(pool, real.erasureId)).toMatchObject({
    ...{ status: 'failed', problem: 'a topic is away', personId: 'late', endedAt: expect.any(Date) },
  })
  expect(await findErasure(pool, dry.erasureId)).toMatchObject({
    ...{ status: 'failed', problem: 'it does not get beyond this step', personId: null, known: null },
  })
  const audit = await listAudit(pool, 'late', { most: 10 })
  expect(audit.slice(0, 2).map(({ action, details }) => [action, details])).toEqual(
    expect.arrayContaining([
      ['erasure_ended', { status: 'failed', dry_run: false }],
      ['erasure_ended', { status: 'failed', dry_run: true }],
    ]),
  )

  // It is tried on, beside those that run, and says all the while why it has failed; a count that is still under way gets no names again.
  expect((await failedErasures(pool, 10)).map(({ erasureId }) => erasureId)).toEqual([real.erasureId])
  expect((await runningErasures(pool, 1000)).map(({ erasureId }) => erasureId)).not.toContain(real.erasureId)
  await noteStep(pool, ids, 'who it is')
  const known = { customerIds: ['late'], userIds: [] }
  await noteNames(
    pool,
    ids.map((erasureId) => ({ erasureId, known, names: ['00'] })),
  )
  expect(await findErasure(pool, real.erasureId)).toMatchObject({
    step: 'who it is',
    problem: 'a topic is away',
    known,
  })
  expect((await findErasure(pool, dry.erasureId))?.known).toBeNull()
  // Once more, by whoever asks for it or by an operator: at once, and with a day for it; by the names, as long as there are any.
  const before = (await lastBegun(pool)) ?? 0
  expect(await askLate({ afterwards: 'new' })).toMatchObject({
    ...{ erasureId: real.erasureId, status: 'running', problem: null, afterwards: 'new', known, endedAt: null },
  })
  expect([await failLateErasures(pool), ((await lastBegun(pool)) ?? 0) > before]).toEqual([[], true])
  await past(real.erasureId, '25 hours')
  await failLateErasures(pool)
  expect(await repeatErasures(pool, [real.erasureId], null)).toBe(1)
  expect(await findErasure(pool, real.erasureId)).toMatchObject({ status: 'running', known })
  // A try that was under way when it failed may end well.
  await past(real.erasureId, '25 hours')
  await failLateErasures(pool)
  await end(real.erasureId)
  expect(await findErasure(pool, real.erasureId)).toMatchObject({ status: 'done', problem: null, personId: null })
  expect((await listAudit(pool, 'late', { most: 1 }))[0]?.details).toEqual({ status: 'done', dry_run: false })
  // Who counts again, counts anew.
  expect((await askLate({ isDryRun: true })).erasureId).not.toBe(dry.erasureId)
})

it('knows the batches that were taken out, and when that was last', async () => {
  expect(await findLastErased(pool)).toBeCloseTo(Date.now(), -5)
  const at = { topic: 'weir.submitted.customers', partition: 2 }
  const { erasureId } = await ask(randomUUID())
  const holes = [7, 9].map((offset) => ({ ...at, offset }))
  for (let n = 0; n < 2; n++) await noteHoles(pool, erasureId, holes)
  expect(await findHoles(pool, at)).toEqual(new Set([7, 9]))
  expect(await findHoles(pool, at, [8, 9])).toEqual(new Set([9]))
  expect(await findHoles(pool, { ...at, partition: 1 })).toEqual(new Set())
})

it('takes up an erasure that it does not know, once, with the gate of that time', async () => {
  const salt = Buffer.alloc(32, 7)
  const id = randomUUID()
  const event: ErasedEvent = {
    ...{ org_id: 'fresh', erasure_id: randomUUID(), mode: 'erase', afterwards: 'refuse', erased_at: Date.now() },
    ...{ salt: salt.toString('hex'), ids_sha256: [hashOfName(salt, id).toString('hex')] },
  }
  expect(await takeUpErasure(pool, { ...event, org_id: 'unheard-of' })).toBe('no organisation')
  expect(await takeUpErasure(pool, event)).toBe('taken up')
  expect(await takeUpErasure(pool, event)).toBe('known')
  expect(await findErasure(pool, event.erasure_id)).toMatchObject({ status: 'running', names: event.ids_sha256 })
  const gate = (await createGates().of(pool, ['fresh'])).get('fresh')
  expect(gate?.hashes).toEqual(new Set(event.ids_sha256))
  // What came since of whom it takes as somebody new is not to go.
  const asNew = { ...event, erasure_id: randomUUID(), afterwards: 'new', ids_sha256: ['ab'.repeat(32)] }
  expect(await takeUpErasure(pool, asNew)).toBe('maybe somebody new')
  expect((await createGates().of(pool, ['fresh'])).get('fresh')?.hashes).toEqual(gate?.hashes)
  const elsewhere = { ...event, erasure_id: randomUUID(), salt: '00'.repeat(32) }
  expect(await takeUpErasure(pool, elsewhere)).toBe('another salt')
  expect(await findErasure(pool, elsewhere.erasure_id)).toBeUndefined()
})
