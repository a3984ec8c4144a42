import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { Unavailable } from '#http/request-error.js'
import type { InteractionQuery, InteractionRow, ReadInteractions } from '#query/interactions/list-interactions.js'

export type ReadInteractionsHarness = {
  read: ReadInteractions
  /** Stores interactions of an organisation, in any order. */
  insert: (orgId: string, rows: InteractionRow[]) => Promise<void>
  /** A reader whose ClickHouse does not answer. */
  away: ReadInteractions
}

const start = Date.UTC(2026, 0, 1)
const student = '11111111-1111-4111-8111-111111111111'
const item = '22222222-2222-4222-8222-222222222222'

const rowOf = (over: Partial<InteractionRow> = {}): InteractionRow => ({
  interaction_id: randomUUID(),
  recorded_at: '2026-01-02T03:04:05.678Z',
  interaction_type: 'SHARE',
  user_id: 'user 1',
  student_id: null,
  item_type: 'SHOP',
  item_id: randomUUID(),
  city: 'Łódź',
  country: null,
  platform: 'WEB',
  event_timestamp: new Date(start).toISOString(),
  source: null,
  recommendation_id: null,
  ...over,
})

/** Three to a second: the order within a second is that of the ids. */
const rows = Array.from({ length: 20 }, (_, i) =>
  rowOf({
    // The second half of the id runs against the first.
    interaction_id: `${String((i * 7) % 20).padStart(8, '0')}-0000-4000-8000-${String(99 - i).padStart(12, '0')}`,
    event_timestamp: new Date(start + Math.floor(i / 3) * 1000 + 5).toISOString(),
    user_id: i % 2 === 0 ? 'even' : "o'dd",
    student_id: i < 4 ? student : null,
    item_id: i === 9 ? item : randomUUID(),
    item_type: i === 9 ? 'TAG' : 'SHOP',
    interaction_type: i < 10 ? 'PAGE_VIEW' : 'SHARE',
    platform: i % 5 === 0 ? 'IOS' : null,
    source: i % 5 === 1 ? 'SERVICE' : null,
  }),
)
const placeOf = ({ event_timestamp, interaction_id }: InteractionRow) => `${event_timestamp} ${interaction_id}`
const newestFirst = [...rows].sort((a, b) => (placeOf(a) < placeOf(b) ? 1 : -1))

/** What the edge relies on, of the reader on ClickHouse and of the fake alike. */
export const readInteractionsContract = (
  open: () => Promise<ReadInteractionsHarness> | ReadInteractionsHarness,
): void => {
  describe('reading interactions', () => {
    // ClickHouse keeps what earlier runs have written.
    const org = `acme-${randomUUID()}`
    let harness: ReadInteractionsHarness
    beforeAll(async () => {
      harness = await open()
      await harness.insert(org, rows)
      await harness.insert(`${org}-2`, [rowOf({ interaction_id: rows[0]?.interaction_id ?? '' })])
    })
    const read = (query: Partial<InteractionQuery> = {}) => harness.read(org, { filters: {}, limit: 100, ...query })

    it('gives whole interactions of one organisation, newest first, then by their ids as text', async () => {
      expect(await read()).toEqual(newestFirst)
      expect(await harness.read(`${org}-3`, { filters: {}, limit: 100 })).toEqual([])
    })

    it('gives no more than the limit', async () => {
      expect(await read({ limit: 4 })).toEqual(newestFirst.slice(0, 4))
    })

    it('goes on after any interaction, with none twice and none missing', async () => {
      for (const [i, row] of newestFirst.entries()) {
        const after = { timestamp: Date.parse(row.event_timestamp), id: row.interaction_id }
        expect(await read({ after, limit: 5 })).toEqual(newestFirst.slice(i + 1, i + 6))
      }
    })

    it('gives what happened from a moment on, and before another', async () => {
      const [from, to] = [start + 1005, start + 3005]
      const between = (row: InteractionRow) =>
        Date.parse(row.event_timestamp) >= from && Date.parse(row.event_timestamp) < to
      expect(newestFirst.filter(between)).toHaveLength(6)
      expect(await read({ from, to })).toEqual(newestFirst.filter(between))
      expect(await read({ from: from + 1, to: from + 1000 })).toEqual([])
    })

    it.each([
      ['user_id', "o'dd", 10],
      ['student_id', student, 4],
      ['item_id', item, 1],
      ['item_type', 'TAG', 1],
      ['interaction_type', 'PAGE_VIEW', 10],
      ['platform', 'IOS', 4],
      ['source', 'SERVICE', 4],
      ['user_id', 'nobody', 0],
    ])('filters by %s %s', async (name, value, count) => {
      const expected = newestFirst.filter((row) => row[name] === value)
      expect(expected).toHaveLength(count)
      expect(await read({ filters: { [name]: value } })).toEqual(expected)
    })

    it('gives what meets all filters', async () => {
      const filters = { user_id: 'even', platform: 'IOS' }
      const expected = newestFirst.filter((row) => row.user_id === 'even' && row.platform === 'IOS')
      expect(expected).toHaveLength(2)
      expect(await read({ filters })).toEqual(expected)
    })

    it('says that it is unavailable while ClickHouse is away, and not that there is nothing', async () => {
      await expect(harness.away(org, { filters: {}, limit: 1 })).rejects.toThrow(Unavailable)
    })
  })
}
