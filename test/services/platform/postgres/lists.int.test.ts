import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { numberList, textList, uuidList } from '#platform/postgres/lists.js'
import { openMigratedDatabase } from '../../../support/migrated-database.js'

const { pool } = await openMigratedDatabase()
const readAs = async (type: string, list: unknown) =>
  (await pool.query<{ list: unknown }>(`select $1::${type}[] as list`, [list])).rows[0]?.list

it('writes texts that Postgres reads as they are', async () => {
  const texts = ['acme', 'acme', '', 'null', 'NULL', 'a,b', '{a}', ' a ', '"', '\\', '\\"', "'", 'ä€😀', 'a\nb', 'acme']
  expect(await readAs('text', textList(texts))).toEqual(texts)
  expect(await readAs('text', textList([]))).toEqual([])
})

it('writes uuids and numbers', async () => {
  const ids = [randomUUID(), randomUUID().toUpperCase()]
  expect(await readAs('uuid', uuidList(ids))).toEqual(ids.map((id) => id.toLowerCase()))
  expect(await readAs('uuid', uuidList([]))).toEqual([])
  const numbers = [0, -5, Number.MAX_SAFE_INTEGER]
  expect(await readAs('bigint', numberList(numbers))).toEqual(numbers.map(String))
})

it.each([
  ['two in one', `${randomUUID()},${randomUUID()}`],
  ['two without dashes', `${'a'.repeat(32)},${'b'.repeat(32)}`],
  ['as long as a uuid, with a comma', `${'a'.repeat(32)},${'b'.repeat(3)}`],
  ['as long as a uuid, with quotes', `"${'a'.repeat(34)}"`],
  ['none', 'acme'],
])('has Postgres refuse what is not one uuid: %s', async (_, id) => {
  await expect(readAs('uuid', uuidList([randomUUID(), id]))).rejects.toThrow(
    /invalid input syntax for type uuid|malformed/,
  )
})
