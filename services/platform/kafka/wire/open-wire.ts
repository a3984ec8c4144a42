import { Socket } from 'node:net'
import type { Kafka as Client, ISocketFactory } from 'kafkajs'
import type { Log } from '../../health/log.js'
import type { Wire } from '../producer.js'
import { createAppend, type ProducingCluster } from './append.js'
import type { BrokerSocket, OpenSocket } from './socket.js'

/** Connections for sending, with none of kafkajs's own tries: `createProducer` decides when to try again, and when to stop. */
export const openWire = async (
  clientWith: (sockets: ISocketFactory, retries: number) => Client,
  open: OpenSocket,
  log: Log,
): Promise<Wire> => {
  const sockets = new Set<BrokerSocket>()
  const underWay = new Set<(error: Error) => void>()
  let isReset = false
  const client = clientWith((options) => {
    if (isReset) return closedSocket()
    const opened = open(options)
    sockets.add(opened)
    opened.raw.once('close', () => sockets.delete(opened))
    return opened.socket
  }, 1)
  const cluster = clusterOf(client)
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
        if (isReset) throw new Error('the connection was given up')
        mayGoOn()
      }
      return Promise.race([append(topic, partition, messages, mayLeave), ended]).finally(() => underWay.delete(end))
    },
    reset: () => {
      isReset = true
      // Reset, not closed: what a closed socket still holds, the operating system goes on delivering.
      for (const { socket, raw } of sockets) {
        if (raw.connecting) raw.destroy()
        else raw.resetAndDestroy()
        // kafkajs would keep every request that is under way on it, with its messages, until its own time-out.
        socket.emit('error', new Error('this connection was given up'))
      }
      for (const end of underWay) end(new Error('the connection was given up'))
      cluster.disconnect().catch(() => {})
    },
    close: () => cluster.disconnect(),
  }
}

/** What kafkajs makes for each of its producers, by a function that it keeps to itself. */
const clusterOf = (client: Client): ProducingCluster => {
  const create = Object.getOwnPropertySymbols(client).find((each) => each.description === 'private:Kafka:createCluster')
  if (!create) throw new Error('kafkajs is not the version that Weir was made with: run npm ci')
  const made = client as unknown as Record<symbol, (options: object) => ProducingCluster>
  return made[create]?.({ metadataMaxAge: 300_000, allowAutoTopicCreation: false }) as ProducingCluster
}

const closedSocket = (): Socket => {
  const socket = new Socket()
  process.nextTick(() => socket.destroy(new Error('this connection was given up')))
  return socket
}
