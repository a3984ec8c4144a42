import { expect, it } from 'vitest'
import type { Received } from '#platform/kafka/kafka.js'
import { Undecodable } from '#platform/registry.js'
import { createCloseLook, createSort } from '#tables/readable.js'

const received = (offset: number, value: Buffer | null): Received => ({ offset, timestamp: 0, key: null, value })
const withSchema = (offset: number, id: number): Received => received(offset, Buffer.from([0, 0, 0, 0, id, 7]))

const shops = (...fields: unknown[]) => ({ type: 'record', namespace: 'weir.accepted', name: 'Shops', fields })
const name = { name: 'name', type: 'string' }
const schemas = new Map<number, unknown>([
  [1, shops(name)],
  [2, { namespace: 'weir.accepted', name: 'Tags' }],
  [4, shops(name, { name: 'colour', type: ['null', 'string'] })],
  [5, shops({ name: 'name', type: ['null', 'string'] })],
])
const openSort = () => {
  const asked: number[] = []
  const writerSchema = async (id: number): Promise<string> => {
    asked.push(id)
    const schema = schemas.get(id)
    if (!schema) throw id === 99 ? new Error('the registry is away') : new Undecodable(`there is no schema ${id}`)
    return JSON.stringify(schema)
  }
  const types = new Map([['name', 'String']])
  const sort = createSort({ writerSchema }, 'weir.accepted.Shops', async () => ({ table: 'weir.shops_log', types }))
  return { asked, types, sort }
}
const offsetsOf = ({ readable, unreadable }: Awaited<ReturnType<ReturnType<typeof createSort>>>) => ({
  readable: readable.map(({ offset }) => offset),
  unreadable: unreadable.map(({ message, reason }) => [message.offset, reason]),
})

it("keeps events of the topic's own schema, and names what is wrong with the others", async () => {
  const { sort } = openSort()
  const sorted = await sort([
    withSchema(0, 1),
    withSchema(1, 2),
    withSchema(2, 3),
    received(3, Buffer.from('{"plain":"json"}')),
    received(4, Buffer.alloc(0)),
    withSchema(5, 1),
  ])
  const notOurs = 'not in the wire format of the schema registry'
  expect(offsetsOf(sorted)).toEqual({
    readable: [0, 5],
    unreadable: [
      [1, 'written with the schema weir.accepted.Tags instead of weir.accepted.Shops'],
      [2, 'there is no schema 3'],
      [3, notOurs],
      [4, notOurs],
    ],
  })
})

it('passes over a message without a value, which says that a record is gone, and sets aside one that is empty', async () => {
  const sorted = await openSort().sort([received(0, null), withSchema(1, 1), received(2, Buffer.alloc(0))])
  expect(offsetsOf(sorted)).toEqual({
    readable: [1],
    unreadable: [[2, 'not in the wire format of the schema registry']],
  })
})

it('asks for a schema once, and never takes an absent registry for a bad message', async () => {
  const { sort, asked } = openSort()
  await sort([withSchema(0, 1), withSchema(1, 1), withSchema(2, 1)])
  await sort([withSchema(3, 1)])
  expect(asked).toEqual([1])
  await expect(sort([withSchema(4, 99)])).rejects.toThrow('the registry is away')
})

it('stops at events that the table has no column for, and goes on once it has', async () => {
  const { sort, types } = openSort()
  await expect(sort([withSchema(0, 1), withSchema(1, 4)])).rejects.toThrow(
    'weir.shops_log has no column for colour, which a newer version writes: run its "weir provision"',
  )
  types.set('colour', 'LowCardinality(Nullable(String))')
  expect(offsetsOf(await sort([withSchema(0, 1), withSchema(1, 4)]))).toEqual({ readable: [0, 1], unreadable: [] })
})

it('stops at events that may hold null where the column takes none', async () => {
  await expect(openSort().sort([withSchema(0, 5)])).rejects.toThrow('weir.shops_log takes no null for name')
})

it('finds by decoding what cannot be decoded, and passes other failures on', async () => {
  const lookClosely = createCloseLook(async (message) => {
    if (message.includes('broken')) throw new Undecodable('truncated buffer')
    if (message.includes('away')) throw new Error('the registry is away')
  })
  const [good, broken, away] = ['good', 'broken', 'away'].map((text, i) => received(i, Buffer.from(text)))
  if (!good || !broken || !away) throw new Error('three messages')
  expect(offsetsOf(await lookClosely([good, broken]))).toEqual({ readable: [0], unreadable: [[1, 'truncated buffer']] })
  await expect(lookClosely([good, away])).rejects.toThrow('the registry is away')
})
