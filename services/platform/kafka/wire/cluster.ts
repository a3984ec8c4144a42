import { Socket } from 'node:net'
import type { Kafka as Client, Cluster, ISocketFactory } from 'kafkajs'
import { clusterOf } from './known-client.js'
import type { BrokerSocket, OpenSocket } from './socket.js'

/** A client of kafkajs whose connections are made by this factory, with this many tries of its own. */
export type ClientWith = (sockets: ISocketFactory, retries: number) => Client

/** A cluster of kafkajs with connections of its own, which can be cut off. Not connected yet, and without kafkajs's tries. */
export const createOwnCluster = <C extends Cluster>(clientWith: ClientWith, open: OpenSocket) => {
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
    isReset: (): boolean => isReset,
    /** Ends the connections so that nothing that is still on its way on them arrives, and opens no others. */
    reset: (): void => {
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
