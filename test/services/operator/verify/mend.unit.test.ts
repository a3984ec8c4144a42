import { randomUUID } from 'node:crypto'
import { deserialize } from 'node:v8'
import { expect, it } from 'vitest'
import { partitionOf, placeOf } from '#platform/kafka/partitions.js'
import { partitionsOf, usualLayout } from '#schemas/derive/topics.js'
import { tag } from '#schemas/records/tag.js'
import { checkAccepted } from '../../../../services/operator/verify/checks/check-accepted.js'
import { checkRejected } from '../../../../services/operator/verify/checks/check-rejected.js'
import { mend } from '../../../../services/operator/verify/mend.js'
import { readSubmitted } from '../../../../services/operator/verify/read-submitted.js'
import { batchOf, refusalOf } from '../../../support/batch.js'
import { sampleOf } from '../../../support/sample.js'
import { createFakeSubject } from './fake-subject.js'

const accepted = 'weir.accepted.tags'
const id = randomUUID()
const key = `acme/${id}`

const createSystem = () => {
  const system = createFakeSubject({ types: [tag] })
  const upload = (name: string) => {
    const batch = batchOf(tag, [sampleOf(tag, { tag_id: id, name })], { refusals: [refusalOf(1)] })
    return system.decide(tag, batch, system.submit(tag, batch))
  }
  const checkAndMend = async (published = system.ends()) => {
    await readSubmitted(system.subject, published)
    const turnedBack = await checkAccepted(system.subject, system.ends(), () => true)
    await checkRejected(system.subject, system.ends())
    return mend(system.subject, turnedBack)
  }
  const values = () => system.eventsOf(accepted, key).map(({ value }) => value)
  return { ...system, upload, checkAndMend, values }
}

it('publishes nothing where nothing is missing', async () => {
  const system = createSystem()
  const decided = system.upload('one')
  system.publish(decided)
  system.publishRejections(decided)
  const before = system.ends()
  expect(await system.checkAndMend()).toEqual({ events: 0, rejections: 0, lost: [] })
  expect(system.ends()).toEqual(before)
})

it('publishes a missing event and a missing rejection byte for byte as integrity would have', async () => {
  const whole = createSystem()
  const decided = whole.upload('one')
  whole.publish(decided)
  whole.publishRejections(decided)

  const system = createSystem()
  system.decide(tag, decided.batch, system.submit(tag, decided.batch))
  expect(await system.checkAndMend()).toEqual({ events: 1, rejections: 1, lost: [] })
  expect(system.values()).toEqual(whole.values())
  const rejections = `acme/${decided.batch.batch_id}`
  const [mended] = system.eventsOf('weir.rejected', rejections)
  expect(mended?.value).toEqual(whole.eventsOf('weir.rejected', rejections)[0]?.value)
})

it('publishes nothing of a record that is gone, whether its event is missing or was turned back before', async () => {
  const system = createSystem()
  const [old, newest] = [system.upload('old'), system.upload('new')]
  for (const decided of [newest, old]) system.publish(decided)
  const partition = partitionOf(key, 4)
  system.append(accepted, partition, key, null)
  for (const decided of [old, newest, system.upload('lost')]) system.publishRejections(decided)
  expect(await system.checkAndMend()).toEqual({ events: 0, rejections: 0, lost: [] })
  expect(system.found().filter(([kind]) => kind.startsWith('event'))).toEqual([])
  expect(system.countsOf(tag)).toMatchObject({ gone: 1, unreadable: 0, keys: 0 })
})

it('leaves alone what may be on its way', async () => {
  const system = createSystem()
  system.upload('one')
  expect(await system.checkAndMend(new Map())).toEqual({ events: 0, rejections: 0, lost: [] })
  expect(system.values()).toEqual([])
})

it('publishes the newest event again where an old one came after it', async () => {
  const system = createSystem()
  const [old, newest] = [system.upload('old'), system.upload('new')]
  for (const decided of [old, newest, old]) system.publish(decided)
  for (const decided of [old, newest]) system.publishRejections(decided)
  expect(await system.checkAndMend()).toEqual({ events: 1, rejections: 0, lost: [] })
  const values = system.values()
  expect(values).toHaveLength(4)
  expect(values[3]).toEqual(values[1])
})

it('ends with the newest event of a key whose missing event is older', async () => {
  const system = createSystem()
  const [old, newest] = [system.upload('old'), system.upload('new')]
  system.publish(newest)
  for (const decided of [old, newest]) system.publishRejections(decided)
  expect(await system.checkAndMend()).toMatchObject({ events: 2, lost: [] })
  const values = system.values()
  expect(values).toHaveLength(3)
  expect(values[2]).toEqual(values[0])
})

it('publishes several missing events of a key in the order of their versions', async () => {
  const system = createSystem()
  for (const name of ['first', 'second', 'third']) system.publishRejections(system.upload(name))
  expect(await system.checkAndMend()).toMatchObject({ events: 3, lost: [] })
  expect(system.eventsOf(accepted, key).map(({ value }) => deserialize(value as Buffer).name)).toEqual([
    'first',
    'second',
    'third',
  ])
})

it('ends with the event of the row in ClickHouse, where that is newer than all on the topic', async () => {
  const system = createSystem()
  const [old, newest] = [system.upload('old'), system.upload('new')]
  for (const decided of [old, newest]) system.publishRejections(decided)
  system.rows.recent.set(key, 8192)
  const { topic, partition } = newest.verdict
  // The newest batch counts as in flight, so its event is not missing.
  expect(await system.checkAndMend(new Map([[placeOf({ topic, partition }), 1]]))).toMatchObject({
    events: 2,
    lost: [],
  })
  expect(system.eventsOf(accepted, key).map(({ value }) => deserialize(value as Buffer).name)).toEqual(['old', 'new'])
})

/** Neither log nor verdicts hold a batch any more once all was compared. */
const checkAndForget = async (system: ReturnType<typeof createSystem>, gone: ReturnType<typeof system.upload>) => {
  const ends = system.ends()
  await readSubmitted(system.subject, ends)
  const turnedBack = await checkAccepted(system.subject, ends, () => true)
  await checkRejected(system.subject, ends)
  system.forget(gone)
  return turnedBack
}

it('says what cannot be mended because neither log nor verdicts hold it any more', async () => {
  const system = createSystem()
  const [old, newest] = [system.upload('old'), system.upload('new')]
  for (const decided of [old, newest, old]) system.publish(decided)
  for (const decided of [old, newest]) system.publishRejections(decided)
  const turnedBack = await checkAndForget(system, newest)
  expect(await mend(system.subject, turnedBack)).toEqual({ events: 0, rejections: 0, lost: [`${accepted} ${key}`] })
})

it('publishes no missing event behind a newer one that cannot be made any more', async () => {
  const system = createSystem()
  const [old, newest] = [system.upload('old'), system.upload('new')]
  system.publish(newest)
  for (const decided of [old, newest]) system.publishRejections(decided)
  const turnedBack = await checkAndForget(system, newest)
  expect(await mend(system.subject, turnedBack)).toEqual({ events: 0, rejections: 0, lost: [`${accepted} ${key}`] })
  expect(system.values().map((value) => deserialize(value as Buffer).name)).toEqual(['new'])
})

it('gives up where old events keep coming after newer ones', async () => {
  const system = createSystem()
  const [old, newest] = [system.upload('old'), system.upload('new')]
  for (const decided of [old, newest, old]) system.publish(decided)
  for (const decided of [old, newest]) system.publishRejections(decided)
  const [first] = system.values()
  const partition = partitionOf(key, partitionsOf(usualLayout, accepted))
  system.onSend((topic) => {
    if (topic === accepted && first) system.append(accepted, partition, key, first)
  })
  await expect(system.checkAndMend()).rejects.toThrow(`${accepted}: old events keep coming after newer ones`)
})
