import { acceptedTopic, rejectedTopic } from '#schemas/derive/names.js'
import type { AcceptedEvent, RejectedEvent } from '#schemas/events.js'
import { types } from './edge.js'
import { type Log, type Place, placeOf } from './log.js'
import type { Told } from './publishing.js'
import type { Rules } from './rules.js'

type Row = AcceptedEvent | RejectedEvent
type Stage = 'insert' | 'commit'
type Work = Place & { from: number; until: number; generation: number; left: Stage[] }

/** The sink, and ClickHouse behind it: a row for each sorting key, the one with the highest version. */
export const createSink = (told: Log<Told>, rules: Rules, note: (line: string) => void) => {
  const tables = new Map<string, Map<string, Row>>()
  const committed = new Map<string, number>()
  const positions = new Map<string, number>()
  let works: Work[] = []
  let generation = 0

  const positionOf = (place: Place): number => positions.get(placeOf(place)) ?? committed.get(placeOf(place)) ?? 0
  const isWritten = (topic: string) =>
    topic === rejectedTopic || [...types.keys()].some((type) => acceptedTopic(type) === topic)
  const lag = () =>
    told
      .places()
      .filter((place) => isWritten(place.topic) && positionOf(place) < told.end(place.topic, place.partition))

  const insert = ({ topic, partition, from, until }: Work): void => {
    for (const { key, value } of told.read(topic, partition, from, until)) {
      const row = value as Row
      const table = tables.get(topic) ?? new Map<string, Row>()
      tables.set(topic, table)
      const sortingKey = topic === rejectedTopic ? `${row.rejected_at}/${key}/${row.index}` : key
      const there = table.get(sortingKey)
      if (!there || rules.replaces(row, there)) table.set(sortingKey, row)
    }
  }

  return {
    committed,
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
        until: Math.min(from + most, told.end(topic, partition)),
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

    /** Its partitions go to another sink; what the first one has under way goes on. */
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
