import { placeOf, type TopicPartition } from './partitions.js'

/** A member of a consumer group, the partitions that it had until now, and since when, in milliseconds. */
export type Assignee = { id: string; had: readonly TopicPartition[]; since: number }

/**
 * Who gets which partition. Each topic is spread evenly over the members, and so are the topics' odd partitions. A member's partitions of
 * a topic lie far apart, because an organisation's lanes lie side by side; and the first partitions of all topics, the second ones and so
 * on go to different members, because an organisation has the same partitions in every topic. Within that, what a member had stays with
 * it: it knows the entities there, and has begun no work that another would do again.
 */
export const assignPartitions = (
  topics: ReadonlyMap<string, readonly number[]>,
  members: readonly Assignee[],
): Map<string, TopicPartition[]> => {
  const ids = members.map(({ id }) => id).sort()
  const owners = ownersOf(members)
  const shares = new Map(ids.map((id) => [id, newShare()]))
  const shareOf = (id: string): Share => shares.get(id) ?? newShare()
  const oddInAll = [...topics.values()].reduce((sum, partitions) => sum + (partitions.length % ids.length), 0)
  const oddForEach = Math.floor(oddInAll / ids.length)

  for (const [t, topic] of [...topics.keys()].sort().entries()) {
    const partitions = [...(topics.get(topic) ?? [])].sort((a, b) => a - b)
    const forEach = Math.floor(partitions.length / ids.length)
    let oddLeft = partitions.length % ids.length
    const given = new Map(ids.map((id) => [id, [] as number[]]))
    const countOf = (id: string): number => given.get(id)?.length ?? 0
    const give = (id: string, partition: number): void => {
      const share = shareOf(id)
      if (countOf(id) === forEach) {
        share.odd++
        oddLeft--
      }
      given.get(id)?.push(partition)
      share.places.push({ topic, partition })
      share.ofNumber.set(partition, (share.ofNumber.get(partition) ?? 0) + 1)
    }
    // Members with fewer odd partitions come first: an odd one is kept only where there are enough for all of them.
    const mayKeepOdd = (id: string): boolean =>
      shareOf(id).odd < oddForEach &&
      ids.filter((other) => countOf(other) <= forEach && shareOf(other).odd < shareOf(id).odd).length < oddLeft
    const mayKeep = (id: string): boolean => countOf(id) < forEach || (countOf(id) === forEach && mayKeepOdd(id))
    const distanceFrom = (id: string, partition: number): number =>
      Math.min(...(given.get(id) ?? []).map((other) => apart(partition, other, partitions.length)))

    // Of more than a member may keep, it keeps what lies far apart.
    for (const id of ids) {
      const all = partitions.filter((partition) => owners.get(placeOf({ topic, partition })) === id)
      // Not the same ones of every topic: each topic begins one further on.
      const had = [...all.slice(t % all.length), ...all.slice(0, t % all.length)]
      while (had.length > 0 && mayKeep(id)) {
        const [farthest = 0] = had.toSorted((a, b) => distanceFrom(id, b) - distanceFrom(id, a))
        had.splice(had.indexOf(farthest), 1)
        give(id, farthest)
      }
    }
    const kept = new Set([...given.values()].flat())
    for (const partition of partitions.filter((each) => !kept.has(each))) {
      const short = ids.filter((id) => countOf(id) < forEach)
      const able = short.length > 0 ? short : ids.filter((id) => countOf(id) === forEach)
      // Where all else is equal, each topic begins one member further on than the topic before.
      const first = (t + partition) % ids.length
      const turnOf = (id: string): number => (ids.indexOf(id) - first + ids.length) % ids.length
      const [chosen] = able
        .map((id) => ({
          id,
          rank: [
            short.length > 0 ? 0 : shareOf(id).odd,
            owners.get(placeOf({ topic, partition })) === id ? 0 : 1,
            -distanceFrom(id, partition),
            shareOf(id).ofNumber.get(partition) ?? 0,
            turnOf(id),
          ],
        }))
        .sort((a, b) => compare(a.rank, b.rank))
      if (chosen) give(chosen.id, partition)
    }
  }
  return new Map([...shares].map(([id, { places }]) => [id, places.sort(byPlace)]))
}

const byPlace = (a: TopicPartition, b: TopicPartition): number =>
  a.topic < b.topic ? -1 : a.topic > b.topic ? 1 : a.partition - b.partition

/** How far apart two partitions of a topic are; the first one follows on the last. */
const apart = (a: number, b: number, partitions: number): number => {
  const steps = Math.abs(a - b)
  return Math.min(steps, partitions - steps)
}

/** What a member gets: how many partitions of each number are among it, and of how many topics it has one more than others. */
type Share = { places: TopicPartition[]; ofNumber: Map<number, number>; odd: number }

const newShare = (): Share => ({ places: [], ofNumber: new Map(), odd: 0 })

/** Of two members that both had a partition, the one that got it later: the other was asleep when it lost it. */
const ownersOf = (members: readonly Assignee[]): Map<string, string> => {
  const owners = new Map<string, string>()
  const byAge = [...members].sort((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1))
  for (const { id, had } of byAge) for (const place of had) owners.set(placeOf(place), id)
  return owners
}

const compare = (a: readonly number[], b: readonly number[]): number => {
  const at = a.findIndex((value, i) => value !== b[i])
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}
