import { placeOf } from '#platform/kafka/partitions.js'
import type { Stretch } from '#platform/kafka/read-topics.js'
import { acceptedTopic, entityKey } from '#schemas/derive/names.js'
import type { KeyState } from './key-states.js'
import { findRows, rowsSince } from './rows.js'
import { readFrom, type Subject, type TypeUnder } from './subject.js'

/** So many rows are asked for at a time. */
const mostRows = 250_000

/** ClickHouse beside the topics: the row of each key, and whether it is as new as the topic's newest event. */
export const checkRows = async (
  subject: Subject,
  pack: readonly Stretch[],
  keys: ReadonlyMap<string, Map<string, KeyState>>,
  written: ReadonlyMap<string, number>,
  readOn: () => Promise<void>,
): Promise<void> => {
  const { clickhouse, types } = subject
  const checks = [...types.values()].flatMap((one) => {
    const places = pack.filter(({ topic }) => topic === acceptedTopic(one.type.type)).map(placeOf)
    return places.length === 0 ? [] : [{ one, places, states: mergeOf(places, keys) }]
  })
  let isNewer = false
  for (const { one, states } of checks) {
    const see = ({ org_id, id, version }: { org_id: string; id: string; version: number }): void => {
      const state = states(entityKey(org_id, id))
      if (!state) return
      state.row = Math.max(state.row ?? 0, version)
      isNewer ||= state.row > state.highest
    }
    const events = pack.reduce((sum, s) => sum + (s.topic === acceptedTopic(one.type.type) ? s.until - s.from : 0), 0)
    const since = { from: readFrom(subject), org: subject.org, slices: Math.ceil(events / mostRows) }
    for await (const rows of rowsSince(clickhouse, one.type, since)) rows.forEach(see)
    // A row that was accepted before the range: its newest event was read before the range too, or the row is old.
    const unseen = [...states.all()].filter(([, { row }]) => row === undefined).map(([key]) => key)
    for await (const rows of findRows(clickhouse, one.type, unseen)) rows.forEach(see)
  }
  if (isNewer) await readOn()
  for (const { one, places } of checks)
    for (const place of places) note(subject, one, place, keys.get(place) ?? new Map(), written.get(place) ?? 0)
}

const note = (
  { differences }: Subject,
  { type, figures }: TypeUnder,
  place: string,
  states: ReadonlyMap<string, KeyState>,
  written: number,
): void => {
  for (const [key, { highest, highestAt, row }] of states) {
    figures.keys++
    if (row !== undefined && row >= highest) figures.rows++
    else if (highestAt >= written) figures.inFlight++
    else {
      const found = row === undefined ? 'no row' : `its row has version ${row}, its newest event ${highest}`
      differences.add({ kind: 'row_missing', type: type.type, where: `${place} ${key}`, found })
    }
  }
}

/** The keys of several partitions as one; a key is in one of them only. */
const mergeOf = (places: readonly string[], keys: ReadonlyMap<string, Map<string, KeyState>>) => {
  const maps = places.flatMap((place) => keys.get(place) ?? [])
  const find = (key: string): KeyState | undefined => {
    for (const map of maps) {
      const state = map.get(key)
      if (state) return state
    }
    return undefined
  }
  return Object.assign(find, {
    all: function* (): Iterable<[string, KeyState]> {
      for (const map of maps) yield* map
    },
  })
}
