import { expect, it } from 'vitest'
import { toAvroContainer } from '#platform/avro-container.js'
import { createTableWriter } from '#tables/table-writer.js'

/** A message in the registry's wire format. */
const message = (schemaId: number, body: string): Buffer => {
  const header = Buffer.alloc(5)
  header.writeInt32BE(schemaId, 1)
  return Buffer.concat([header, Buffer.from(body)])
}
const containerOf = (schemaId: number, ...bodies: string[]): Buffer =>
  toAvroContainer(
    `schema ${schemaId}`,
    bodies.map((body) => Buffer.from(body)),
  )

const openWriter = (fails: (container: Buffer) => boolean = () => false) => {
  const inserts: { table: string; container: Buffer; rows: number }[] = []
  const writer = createTableWriter({
    table: 'shops_log',
    writerSchema: async (id) => `schema ${id}`,
    insert: async (table, container, rows) => {
      if (fails(container)) throw new Error('no space left')
      inserts.push({ table, container, rows })
    },
  })
  return { writer, inserts }
}

it('joins what is written at the same moment into one insert', async () => {
  const { writer, inserts } = openWriter()
  await Promise.all([
    writer.write([message(1, 'a'), message(1, 'b')]),
    writer.write([message(1, 'c')]),
    writer.write([message(1, 'd')]),
  ])
  expect(inserts).toEqual([{ table: 'shops_log', container: containerOf(1, 'a', 'b', 'c', 'd'), rows: 4 }])
})

it('inserts once for each schema, each with the events that were written with it', async () => {
  const { writer, inserts } = openWriter()
  await Promise.all([writer.write([message(1, 'a'), message(2, 'b')]), writer.write([message(1, 'c')])])
  expect(inserts.map(({ container, rows }) => ({ container, rows }))).toEqual([
    { container: containerOf(1, 'a', 'c'), rows: 2 },
    { container: containerOf(2, 'b'), rows: 1 },
  ])
})

it('fails everybody whose rows were in a failed insert, and takes the next rows all the same', async () => {
  const { writer, inserts } = openWriter((container) => container.includes('bad'))
  const together = await Promise.allSettled([writer.write([message(1, 'good')]), writer.write([message(1, 'bad')])])
  expect(together.map((one) => one.status === 'rejected' && one.reason.message)).toEqual([
    'no space left',
    'no space left',
  ])
  await writer.write([message(1, 'good')])
  expect(inserts).toHaveLength(1)
})

it('resolves only when ClickHouse has the rows', async () => {
  let answer = (): void => {}
  const order: string[] = []
  const writer = createTableWriter({
    table: 'shops_log',
    writerSchema: async () => 'schema',
    insert: () =>
      new Promise((resolve) => {
        answer = () => {
          order.push('inserted')
          resolve()
        }
        order.push('sent')
      }),
  })
  const written = writer.write([message(1, 'a')]).then(() => order.push('resolved'))
  while (order.length === 0) await new Promise((resolve) => setImmediate(resolve))
  answer()
  await written
  expect(order).toEqual(['sent', 'inserted', 'resolved'])
})
