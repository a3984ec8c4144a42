import type { Kafka as Client } from 'kafkajs'
import { expect, it } from 'vitest'
import { type Admin, withAdmin } from '../../../../../services/platform/kafka/admin/admin.js'

/** Each admin of this client fails with one of these errors, until there are none left. */
const failing = (...errors: Error[]) => {
  const closed: number[] = []
  let opened = 0
  const admin = () => {
    const own = opened++
    return {
      connect: async () => {},
      disconnect: async () => void closed.push(own),
      fetchTopicOffsets: async () => {
        const error = errors.shift()
        if (error) throw error
        return [{ partition: 0, offset: '1', high: '1', low: '0', by: own }]
      },
    } as unknown as Admin
  }
  return { client: { admin } as unknown as Client, closed }
}
const passing = () => Object.assign(new Error('This server is not the leader'), { retriable: true })

it('asks for offsets again, with a new admin, while Kafka says that its refusal passes', async () => {
  const { client, closed } = failing(passing(), passing())
  expect(await withAdmin(client, (admin) => admin.fetchTopicOffsets('tags'))).toMatchObject([{ high: '1', by: 2 }])
  expect(closed).toEqual([1, 2, 0])
})

it('says at once what does not pass', async () => {
  const { client, closed } = failing(new Error('not allowed'))
  await expect(withAdmin(client, (admin) => admin.fetchTopicOffsets('tags'))).rejects.toThrow('not allowed')
  expect(closed).toEqual([0])
})
