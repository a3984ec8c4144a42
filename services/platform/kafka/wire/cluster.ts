import { Socket } from 'node:net'
import type { Kafka as Client, Cluster, ISocketFactory } from 'kafkajs'
import { clusterOf } from './known-client.js'
import type { BrokerSocket, OpenSocket } from './socket.js'

/** A client of kafkajs whose connections are made by this factory, with this many tries of its own. */
export type ClientWith = (sockets: ISocketFactory, retries: number) => Client

/** A cluster of kafkajs with connections that nobody shares: they can be cut off. */
export type OwnCluster<C extends Cluster> = {
  cluster: C
  /** Ends the connections so that nothing that is still on its way on them arrives, and opens no others. */
  reset: () => void
  isReset: () => boolean
}

/** Not connected yet, and with none of kafkajs's own tries. */
export const createOwnCluster = <C extends Cluster>(clientWith: ClientWith, open: OpenSocket): OwnCluster<C> => {
  const sockets = new Set<BrokerSocket>()
  let isReset = false
  const client = clientWith((options) => {
    if (isReset) return closedSocket()
    const opened = open(options)
    sockets.add(opened)
    opened.raw.once('close', () => sockets.delete(opened))
    return opened.socket
  }, 1)
  const cluster = clusterOf<C>(client)
  return {
    cluster,
    isReset: () => isReset,
    reset: () => {
      isReset = true
      // Reset, not closed: what a closed socket still holds, the operating system goes on delivering.
      for (const { socket, raw } of sockets) {
        if (raw.connecting) raw.destroy()
        else raw.resetAndDestroy()
        // kafkajs would keep every request that is under way on it, with its messages, until its own time-out.
        socket.emit('error', new Error('this connection was given up'))
      }
      cluster.disconnect().catch(() => {})
    },
  }
}

const closedSocket = (): Socket => {
  const socket = new Socket()
  process.nextTick(() => socket.destroy(new Error('this connection was given up')))
  return socket
}
