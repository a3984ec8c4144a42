import { createChance } from './chance.js'
import type { SampleEvent, TopicSample, Write } from './history.js'

/** Events in the order in which a consumer reads them, and how often that is not how they were accepted. */
export type PublishedSample = {
  events: SampleEvent[]
  /** Events that come again by themselves. */
  duplicates: number
  /** Stretches of events that come again together, and how many events those are. */
  replays: number
  replayed: number
  /** Events that come for the first time after a newer version of their record. */
  late: number
}

const stretchEach = 500
const longestStretch = 100

/** What a topic may hold of a history: in order and once; or, where duplicates are asked for, with all that can happen to it. */
export const asPublished = (history: readonly Write[], { type, seed, duplicates }: TopicSample): PublishedSample => {
  const inOrder = history.map(({ event }) => event)
  if (!duplicates) return { events: inOrder, duplicates: 0, replays: 0, replayed: 0, late: 0 }
  const chance = createChance(seed, 'published', type.type)
  const nextOf = nextVersions(history)
  const placed: { at: number; event: SampleEvent }[] = []
  let doubled = 0
  let delayed = 0
  for (const [n, event] of inOrder.entries()) {
    const next = nextOf.get(n)
    // The first event and the first that has a newer version, so that no sample is too small to have both.
    const isLate = next !== undefined && (delayed === 0 || chance.isLikely(0.05))
    const isDouble = doubled === 0 || chance.isLikely(0.05)
    if (isLate) delayed++
    if (isDouble) doubled++
    const at = isLate ? next + 0.5 : n
    placed.push({ at, event })
    if (isDouble) placed.push({ at: at + chance.below(20) + 0.25, event })
  }
  const once = placed.sort((one, other) => one.at - other.at).map(({ event }) => event)
  return { ...withReplays(once, chance), duplicates: doubled, late: countLate(once, type.id) }
}

/** A newer version may have been delayed further still, so they are counted where they came to stand. */
const countLate = (events: readonly SampleEvent[], id: string): number => {
  const newest = new Map<unknown, number>()
  const seen = new Set<SampleEvent>()
  let late = 0
  for (const event of events) {
    const known = newest.get(event[id]) ?? -1
    if (event.version < known && !seen.has(event)) late++
    seen.add(event)
    newest.set(event[id], Math.max(known, event.version))
  }
  return late
}

/** The place of the next version of the same record, of each place that has one. */
const nextVersions = (history: readonly Write[]): Map<number, number> => {
  const last = new Map<number, number>()
  const next = new Map<number, number>()
  for (const [n, { index }] of history.entries()) {
    const before = last.get(index)
    if (before !== undefined) next.set(before, n)
    last.set(index, n)
  }
  return next
}

/** As when a consumer, or Weir itself, goes back to what it had last noted and begins from there. */
const withReplays = (once: readonly SampleEvent[], chance: { below: (bound: number) => number }) => {
  const ends = Array.from({ length: Math.ceil(once.length / stretchEach) }, (_, n) => {
    const from = n * stretchEach
    const room = Math.min(stretchEach, once.length - from)
    return from + 1 + chance.below(room)
  })
  const events: SampleEvent[] = []
  let replayed = 0
  for (const [n, event] of once.entries()) {
    events.push(event)
    if (!ends.includes(n + 1)) continue
    const length = 1 + chance.below(Math.min(longestStretch, n + 1))
    events.push(...once.slice(n + 1 - length, n + 1))
    replayed += length
  }
  return { events, replays: ends.length, replayed }
}

/** What a right consumer has at the end: of each record the event with the highest version, without those that are deleted. */
export const finalStateOf = (events: readonly SampleEvent[], id: string): SampleEvent[] => {
  const newest = new Map<string, SampleEvent>()
  for (const event of events) {
    const known = newest.get(String(event[id]))
    if (!known || event.version > known.version) newest.set(String(event[id]), event)
  }
  const live = [...newest.values()].filter((event) => event.is_deleted !== true)
  return live.sort((one, other) => (String(one[id]) < String(other[id]) ? -1 : 1))
}
