import { expect, it } from 'vitest'
import { createReadInteractions, toSelect } from '#query/interactions/reader.js'
import { interaction } from '#schemas/records/interaction.js'

const id = '3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b'

it('binds what was given, and never writes it into the statement', () => {
  const { sql, values } = toSelect(interaction, 'acme', {
    filters: { user_id: "x' or 1=1", student_id: id },
    from: 1,
    after: { timestamp: 5, id },
    limit: 3,
  })
  expect(
    sql,
  ).toBe(`select interaction_id, recorded_at, interaction_type, user_id, student_id, item_type, item_id, city, country, platform, event_timestamp, source, recommendation_id
from weir.interactions
where org_id = {org_id:String} and user_id = {user_id:String} and student_id = {student_id:UUID} and event_timestamp >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') and event_timestamp <= fromUnixTimestamp64Milli({after:Int64}, 'UTC') and (event_timestamp < fromUnixTimestamp64Milli({after:Int64}, 'UTC') or toString(interaction_id) < {after_id:String})
order by event_timestamp desc, toString(interaction_id) desc
limit {limit:UInt32}`)
  expect(values).toEqual({
    org_id: 'acme',
    user_id: "x' or 1=1",
    student_id: id,
    from: 1,
    after: 5,
    after_id: id,
    limit: 3,
  })
})

it('says that ClickHouse is away, not that there is nothing', async () => {
  const readInteractions = createReadInteractions({ query: () => Promise.reject(new Error('refused')) }, interaction)
  await expect(readInteractions('acme', { filters: {}, limit: 1 })).rejects.toThrow('cannot be read at the moment')
})

it('has ClickHouse itself end a read that takes too long', async () => {
  const asked: unknown[] = []
  const query = async (_sql: string, _values: unknown, settings: unknown) => {
    asked.push(settings)
    return []
  }
  await createReadInteractions({ query }, interaction)('acme', { filters: {}, limit: 1 })
  expect(asked).toEqual([{ date_time_output_format: 'iso', max_execution_time: 9 }])
})
