import { Kafka, logLevel } from 'kafkajs'

/** Who is in these consumer groups. Somebody who was lost and came back has another name. */
export const membersOf = async (brokers: string, groupIds: string[]): Promise<string[][]> => {
  const admin = new Kafka({ brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    const { groups } = await admin.describeGroups(groupIds)
    return groups.map(({ members }) => members.map(({ memberId }) => memberId).sort())
  } finally {
    await admin.disconnect()
  }
}
