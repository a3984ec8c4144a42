import type { Log } from '../../health/log.js'
import type { Wire } from '../producer.js'
import { createAppend, type ProducingCluster } from './append.js'
import { type ClientWith, createOwnCluster } from './cluster.js'
import type { OpenSocket } from './socket.js'

/** Connections for sending: `createProducer` decides when to try again, and when to stop. */
export const openWire = async (clientWith: ClientWith, open: OpenSocket, log: Log): Promise<Wire> => {
  const underWay = new Set<(error: Error) => void>()
  const { cluster, reset, isReset } = createOwnCluster<ProducingCluster>(clientWith, open)
  await cluster.connect()
  const append = createAppend(cluster, log)

  return {
    send: (topic, partition, messages, mayGoOn) => {
      // kafkajs does not notice that a socket of its own was destroyed.
      let end = (_: Error): void => {}
      const ended = new Promise<never>((_, reject) => {
        end = reject
        underWay.add(end)
      })
      const mayLeave = () => {
        if (isReset()) throw new Error('the connection was given up')
        mayGoOn()
      }
      return Promise.race([append(topic, partition, messages, mayLeave), ended]).finally(() => underWay.delete(end))
    },
    reset: () => {
      reset()
      for (const end of underWay) end(new Error('the connection was given up'))
    },
    close: () => cluster.disconnect(),
  }
}
