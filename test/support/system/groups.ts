import { Kafka, logLevel } from 'kafkajs'
import { eventually } from '../eventually.js'

const submitted = /^weir\.submitted\.(?<type>[a-z-]+)(?:\.(?<generation>g\d+))?$/

/** The group that reads a submitted topic; after each change of the lanes it has another name. */
const integrityOf = (topic: string): string | undefined => {
  const { type, generation } = submitted.exec(topic)?.groups ?? {}
  if (type === undefined) return undefined
  return ['weir-integrity', type === 'interactions' && type, generation].filter(Boolean).join('-')
}

/** Weir's other consumer groups, and which topics each of them reads. */
const sinks: Record<string, (topic: string) => boolean> = {
  'weir-sink': (topic) => topic.startsWith('weir.accepted.') || topic === 'weir.rejected' || topic === 'weir.waiting',
  'weir-sink-interactions': (topic) => topic === 'weir.interactions',
}

/** Resolves when every group has read its topics to the end, and no topic grew meanwhile: all that was sent has arrived. */
export const untilQuiet = (brokers: string, within = 60_000): Promise<void> =>
  withAdmin(brokers, async (admin) => {
    let before = ''
    await eventually(async () => {
      const { behind, ends } = await positionsOf(admin)
      if (behind.length > 0) throw new Error(behind.join('; '))
      const isStill = ends === before
      before = ends
      if (!isStill) throw new Error('the topics still grow')
    }, within)
  })

/** Who is in these consumer groups. A member that was lost and came back has another name. */
export const membersOf = (brokers: string, groupIds: string[]): Promise<string[][]> =>
  withAdmin(brokers, async (admin) => {
    const { groups } = await admin.describeGroups(groupIds)
    return groups.map(({ members }) => members.map(({ memberId }) => memberId).sort())
  })

/**
 * Lets consumer groups that do not exist yet begin with what is written from now on, also where they ask for all from the
 * beginning: journeys before this one may have left hundreds of thousands of events.
 */
export const beginHere = (brokers: string, groupIds: string[], topics: string[]): Promise<void> =>
  withAdmin(brokers, async (admin) => {
    for (const topic of topics) {
      const partitions = (await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => ({
        partition,
        offset: high,
      }))
      for (const groupId of groupIds) await admin.setOffsets({ groupId, topic, partitions })
    }
  })

type Admin = ReturnType<Kafka['admin']>

/** Partitions whose end a group has not reached, in words; and where the ends are. */
const positionsOf = async (admin: Admin): Promise<{ behind: string[]; ends: string }> => {
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith('weir.')).sort()
  const offsets = await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)))
  const ends = new Map(
    topics.flatMap((topic, i) =>
      (offsets[i] ?? []).map(({ partition, high }) => [`${topic}/${partition}`, Number(high)] as const),
    ),
  )
  const behind: string[] = []
  const integrities = new Set(topics.flatMap((topic) => integrityOf(topic) ?? []))
  const readers = {
    ...Object.fromEntries([...integrities].map((group) => [group, (topic: string) => integrityOf(topic) === group])),
    ...sinks,
  }
  for (const [groupId, reads] of Object.entries(readers)) {
    for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics: topics.filter(reads) })) {
      for (const { partition, offset } of partitions) {
        const end = ends.get(`${topic}/${partition}`) ?? 0
        if (Math.max(0, Number(offset)) < end)
          behind.push(`${groupId} is at ${offset} of ${end} in ${topic}/${partition}`)
      }
    }
  }
  return { behind, ends: JSON.stringify([...ends]) }
}

const withAdmin = async <T>(brokers: string, work: (admin: Admin) => Promise<T>): Promise<T> => {
  const admin = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}
