import { randomUUID } from 'node:crypto'
import { deserialize, serialize } from 'node:v8'
import { describe, expect, it } from 'vitest'
import { tag } from '#schemas/records/tag.js'
import { checkAccepted } from '../../../../../services/operator/verify/checks/check-accepted.js'
import { readSubmitted } from '../../../../../services/operator/verify/read-submitted.js'
import { batchOf, refusalOf } from '../../../../support/batch.js'
import { sampleOf } from '../../../../support/sample.js'
import { createFakeSubject } from '../fake-subject.js'

const accepted = 'weir.accepted.tags'

/** One batch of two tags and a refused record, decided; what is published of it is up to the test. */
const oneBatch = (options: { org?: string } = {}) => {
  const system = createFakeSubject({ types: [tag], ...options })
  const ids = [randomUUID(), randomUUID()] as [string, string]
  const keys = ids.map((id) => `acme/${id}`) as [string, string]
  const upload = (...names: string[]) => {
    const records = names.map((name, i) => sampleOf(tag, { tag_id: ids[i], name }))
    const batch = batchOf(tag, records, { refusals: [refusalOf(names.length)] })
    return system.decide(tag, batch, system.submit(tag, batch))
  }
  /** A row for every event there is, as the sink writes them. */
  const writeRows = () => {
    for (const key of keys) {
      const versions = system.eventsOf(accepted, key).map(({ value }) => versionIn(value as Buffer))
      if (versions.length > 0) system.rows.recent.set(key, Math.max(...versions))
    }
  }
  const check = async (options: { published?: Map<string, number>; isPublished?: boolean } = {}) => {
    await readSubmitted(system.subject, options.published ?? system.ends())
    return checkAccepted(system.subject, system.ends(), () => options.isPublished ?? true)
  }
  return { ...system, ids, keys, upload, writeRows, check }
}
const versionIn = (value: Buffer): number => (deserialize(value) as { version: number }).version

it('finds nothing where every accepted record has its event and its row', async () => {
  const system = oneBatch()
  system.publish(system.upload('one', 'two'))
  system.writeRows()
  expect(await system.check()).toEqual([])
  expect(system.found()).toEqual([])
  expect(system.countsOf(tag)).toMatchObject({ accepted: 2, onTopic: 2, keys: 2, rows: 2, inFlight: 0 })
})

it('counts an event once that is there twice', async () => {
  const system = oneBatch()
  const decided = system.upload('one', 'two')
  system.publish(decided)
  system.publish(decided)
  system.writeRows()
  await system.check()
  expect(system.found()).toEqual([])
  expect(system.countsOf(tag)).toMatchObject({ onTopic: 2, keys: 2, rows: 2 })
})

describe('a missing event', () => {
  it('is found, with the record that lacks it', async () => {
    const system = oneBatch()
    const decided = system.upload('one', 'two')
    system.publish(decided, (index) => index === 0)
    system.writeRows()
    await system.check()
    const where = `record 1 of batch ${decided.batch.batch_id}`
    expect(system.found()).toEqual([['event_missing', where, `not on ${accepted}`]])
  })

  it('is on its way while integrity has not committed its batch', async () => {
    const system = oneBatch()
    system.publish(system.upload('one', 'two'), (index) => index === 0)
    system.writeRows()
    await system.check({ published: new Map() })
    expect(system.found()).toEqual([])
    expect(system.countsOf(tag)).toMatchObject({ onTopic: 1, inFlight: 1 })
  })
})

describe('an event that nobody accepted', () => {
  it.each([
    ['of the refused record', (batchId: string) => ({ version: 2, batch_id: batchId })],
    ['of a batch that is not the one at its place', () => ({ version: 0, batch_id: randomUUID() })],
  ])('is found: one %s', async (_, headOf) => {
    const system = oneBatch()
    const decided = system.upload('one', 'two')
    system.publish(decided)
    const key = `acme/${randomUUID()}`
    const head = headOf(decided.batch.batch_id)
    const offset = system.append(accepted, 0, key, serialize(head))
    system.rows.recent.set(key, head.version)
    system.writeRows()
    await system.check()
    expect(system.found()).toMatchObject([
      ['event_unfounded', `${accepted}/0@${offset} ${key}`, expect.stringContaining('which was not accepted')],
    ])
  })

  it('is left alone where its batch lies outside the range', async () => {
    const system = oneBatch()
    system.publish(system.upload('one', 'two'))
    const key = `acme/${randomUUID()}`
    system.append(accepted, 0, key, serialize({ version: 99 * 8192, batch_id: randomUUID() }))
    system.rows.recent.set(key, 99 * 8192)
    system.writeRows()
    await system.check()
    expect(system.found()).toEqual([])
  })
})

describe('an old event after a newer one', () => {
  const turnedBack = async (isPublished: boolean) => {
    const system = oneBatch()
    const old = system.upload('old')
    const newest = system.upload('new')
    for (const decided of [old, newest, old]) system.publish(decided)
    system.writeRows()
    return { system, keys: await system.check({ isPublished }) }
  }

  it('is found, and its key is handed on to be mended', async () => {
    const { system, keys } = await turnedBack(true)
    expect(keys).toEqual([{ type: 'tags', key: system.keys[0] }])
    const found = 'its last event has version 0, its newest 8192'
    expect(system.found()).toEqual([['event_turned_back', expect.stringContaining(system.keys[0]), found]])
  })

  it('may be a publication under way, while integrity has not committed the newer one', async () => {
    const { system, keys } = await turnedBack(false)
    expect(keys).toEqual([])
    expect(system.found()).toEqual([])
  })

  it('is found also where the newer one is known from its row alone', async () => {
    const system = oneBatch()
    system.publish(system.upload('old'))
    system.rows.recent.set(system.keys[0], 8192)
    expect(await system.check()).toEqual([{ type: 'tags', key: system.keys[0] }])
  })

  it('is none where the newer event came to the topic during the reading', async () => {
    const system = oneBatch()
    system.publish(system.upload('old'))
    const newest = system.upload('new')
    const { rows } = system.subject
    const meanwhile = {
      ...rows,
      since: (...asked: Parameters<typeof rows.since>) => {
        system.publish(newest)
        system.writeRows()
        return rows.since(...asked)
      },
    }
    const written = system.ends()
    await readSubmitted(system.subject, written)
    expect(await checkAccepted({ ...system.subject, rows: meanwhile }, written, () => true)).toEqual([])
    expect(system.found()).toEqual([])
    expect(system.countsOf(tag)).toMatchObject({ onTopic: 2, keys: 1, rows: 1 })
  })
})

it('counts messages that cannot be decoded, and looks at one organisation where one is named', async () => {
  const system = oneBatch({ org: 'acme' })
  system.publish(system.upload('one', 'two'))
  system.append(accepted, 0, 'acme/x', Buffer.from('garbage'))
  system.append(accepted, 0, 'other/x', Buffer.from('garbage'))
  system.writeRows()
  await system.check()
  expect(system.found()).toEqual([])
  expect(system.countsOf(tag)).toMatchObject({ unreadable: 1, keys: 2 })
})
