import { placeOf } from '#platform/kafka/partitions.js'
import { acceptedTopic, rejectedTopic } from '#schemas/derive/names.js'
import type { AcceptedEvent, RejectedEvent } from '#schemas/events.js'
import { types } from './edge.js'
import type { Log, TopicPartition } from './log.js'
import type { Published } from './publishing.js'
import type { Rules } from './rules.js'

type Row = AcceptedEvent | RejectedEvent
type Stage = 'insert' | 'commit'
type Work = TopicPartition & { from: number; until: number; generation: number; left: Stage[] }

/** The sink, with ClickHouse behind it, which keeps for each sorting key the row with the highest version. */
export const createSink = (published: Log<Published>, rules: Rules, note: (line: string) => void) => {
  const tables = new Map<string, Map<string, Row>>()
  const committed = new Map<string, number>()
  const positions = new Map<string, number>()
  let works: Work[] = []
  let generation = 0

  const positionOf = (place: TopicPartition): number =>
    positions.get(placeOf(place)) ?? committed.get(placeOf(place)) ?? 0
  const isWritten = (topic: string) =>
    topic === rejectedTopic || [...types.keys()].some((type) => acceptedTopic(type) === topic)
  const lag = () =>
    published
      .places()
      .filter((place) => isWritten(place.topic) && positionOf(place) < published.end(place.topic, place.partition))

  const insert = ({ topic, partition, from, until }: Work): void => {
    for (const { key, value } of published.read(topic, partition, from, until)) {
      const row = value as Row | null
      // Without a value: what had this key was erased, and is taken out of the tables by whoever erases.
      if (!row) continue
      const table = tables.get(topic) ?? new Map<string, Row>()
      tables.set(topic, table)
      const sortingKey = topic === rejectedTopic ? `${row.rejected_at}/${key}/${row.index}` : key
      const there = table.get(sortingKey)
      if (!there || rules.replaces(row, there)) table.set(sortingKey, row)
    }
  }

  return {
    committed,
    /** Removes the rows of a topic's table that are meant. */
    remove: (topic: string, isMeant: (row: Row) => boolean): void => {
      for (const [key, row] of tables.get(topic) ?? []) if (isMeant(row)) tables.get(topic)?.delete(key)
    },
    lag,
    rows: (topic: string): Row[] => [...(tables.get(topic)?.values() ?? [])],
    works: (): readonly Work[] => works,

    fetch: (pick: number, most: number): Work | undefined => {
      const able = lag().filter((p) => !works.some((w) => placeOf(w) === placeOf(p) && w.generation === generation))
      const place = able[pick % able.length]
      if (!place) return undefined
      const { topic, partition } = place
      const from = positionOf(place)
      const left: Stage[] = rules.sinkCommitsFirst ? ['commit', 'insert'] : ['insert', 'commit']
      const work = {
        topic,
        partition,
        from,
        until: Math.min(from + most, published.end(topic, partition)),
        generation,
        left,
      }
      works.push(work)
      return work
    },

    advance: (work: Work): void => {
      const stage = work.left.shift()
      if (stage === 'insert') insert(work)
      else if (work.generation === generation) {
        committed.set(placeOf(work), work.until)
        positions.set(placeOf(work), work.until)
      }
      note(`sink: ${placeOf(work)}@${work.from}-${work.until - 1} ${stage}`)
      if (work.left.length === 0) works.splice(works.indexOf(work), 1)
    },

    /** The partitions go to another sink; the works of the first sink go on. */
    rebalance: (): void => {
      generation++
      positions.clear()
      note('sink: rebalance')
    },

    crash: (): void => {
      works = []
      positions.clear()
      note('sink crashes')
    },
  }
}

export type Sink = ReturnType<typeof createSink>
