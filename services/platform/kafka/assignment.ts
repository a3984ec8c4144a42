import { placeOf } from './partitions.js'

type Place = { topic: string; partition: number }

/** A member of a consumer group, the partitions that it had until now, and since when, in milliseconds. */
export type Assignee = { id: string; had: readonly Place[]; since: number }

/**
 * Who gets which partition. Each topic is spread evenly over the members, and so are the topics' odd partitions, the first partitions of
 * all topics, the second ones and so on: an organisation has the same partitions in every topic, and no one member should get them all.
 * Within that, what a member had stays with it: it knows the entities there, and has begun no work that another would do again.
 */
export const assignPartitions = (
  topics: ReadonlyMap<string, readonly number[]>,
  members: readonly Assignee[],
): Map<string, Place[]> => {
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
    const counts = new Map(ids.map((id) => [id, 0]))
    const countOf = (id: string) => counts.get(id) ?? 0
    const give = (id: string, partition: number): void => {
      const share = shareOf(id)
      share.places.push({ topic, partition })
      share.ofNumber.set(partition, (share.ofNumber.get(partition) ?? 0) + 1)
      if (countOf(id) === forEach) {
        share.odd++
        oddLeft--
      }
      counts.set(id, countOf(id) + 1)
    }
    const mayKeep = (id: string): boolean =>
      countOf(id) < forEach || (countOf(id) === forEach && oddLeft > 0 && shareOf(id).odd < oddForEach)

    const left = partitions.filter((partition) => {
      const owner = owners.get(placeOf({ topic, partition }))
      if (owner === undefined || !mayKeep(owner)) return true
      give(owner, partition)
      return false
    })
    for (const partition of left) {
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
            shareOf(id).ofNumber.get(partition) ?? 0,
            turnOf(id),
          ],
        }))
        .sort((a, b) => compare(a.rank, b.rank))
      if (chosen) give(chosen.id, partition)
    }
  }
  return new Map([...shares].map(([id, { places }]) => [id, places]))
}

/** What a member gets: how many partitions of each number are among it, and of how many topics it has one more than others. */
type Share = { places: Place[]; ofNumber: Map<number, number>; odd: number }

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
