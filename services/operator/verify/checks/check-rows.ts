import { placeOf } from '#platform/kafka/partitions.js'
import type { Stretch } from '#platform/kafka/read-topics.js'
import { acceptedTopic, entityKey } from '#schemas/derive/names.js'
import type { KeyState, KeysByPlace } from '../key-states.js'
import { countOf } from '../read-submitted.js'
import type { RowVersion } from '../rows.js'
import { type CheckedType, readFrom, type Subject } from '../subject.js'

/** How many rows are asked for at a time. */
const mostRows = 250_000

/** Whether each key has a row as new as its newest event. `readOn` reads the topics on, for a row that is newer still. */
export const checkRows = async (
  subject: Subject,
  pack: readonly Stretch[],
  keys: KeysByPlace,
  written: ReadonlyMap<string, number>,
  readOn: () => Promise<void>,
): Promise<void> => {
  const { rows, types } = subject
  const checks = [...types.values()].flatMap((one) => {
    const stretches = pack.filter(({ topic }) => topic === acceptedTopic(one.type.type))
    return stretches.length === 0 ? [] : [{ one, stretches, states: statesOf(stretches, keys) }]
  })
  let isNewer = false
  for (const { one, stretches, states } of checks) {
    const see = ({ org_id, id, version }: RowVersion): void => {
      const state = states.find(entityKey(org_id, id))
      if (!state) return
      state.row = Math.max(state.row ?? 0, version)
      isNewer ||= state.row > state.highest
    }
    const slices = Math.ceil(countOf(stretches) / mostRows)
    for await (const some of rows.since(one.type, { from: readFrom(subject), org: subject.org, slices }))
      some.forEach(see)
    // A key without a row since then: its row was accepted before the range, or it has none.
    const unseen = [...states.all()].filter(([, { row }]) => row === undefined).map(([key]) => key)
    for await (const some of rows.ofKeys(one.type, unseen)) some.forEach(see)
  }
  if (isNewer) await readOn()
  for (const { one, stretches } of checks)
    for (const place of stretches.map(placeOf))
      note(subject, one, place, keys.get(place) ?? new Map(), written.get(place) ?? 0)
}

const note = (
  { differences }: Subject,
  { type, counts }: CheckedType,
  place: string,
  states: ReadonlyMap<string, KeyState>,
  written: number,
): void => {
  for (const [key, { highest, highestAt, row }] of states) {
    counts.keys++
    if (row !== undefined && row >= highest) counts.rows++
    else if (highestAt >= written) counts.inFlight++
    else {
      const found = row === undefined ? 'no row' : `its row has version ${row}, its newest event ${highest}`
      differences.add({ kind: 'row_missing', type: type.type, where: `${place} ${key}`, found })
    }
  }
}

/** The keys of several partitions as one; a key is in one of them only. */
const statesOf = (stretches: readonly Stretch[], keys: KeysByPlace) => {
  const maps = stretches.flatMap((stretch) => keys.get(placeOf(stretch)) ?? [])
  return {
    find: (key: string): KeyState | undefined => maps.find((map) => map.has(key))?.get(key),
    all: function* (): Iterable<[string, KeyState]> {
      for (const map of maps) yield* map
    },
  }
}
