import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Log } from '../health/log.js'
import { createClient, createHosts, type Hosts } from './hosts.js'

type ListenDeps = {
  url: string
  channel: string
  onMessage: (payload: string) => void
  /** From now on every message arrives; earlier ones may have been missed. */
  onUp: () => void
  onDown: () => void
  log: Log
}

// A connection that was lost without a close is noticed after the sum of these two; TCP's own keep-alive takes minutes.
const pingEvery = 500
const answerWithin = 1_000
const hangUpWithin = 500
const waits = [100, 200, 500, 1_000, 2_000]

/** Follows a channel of Postgres on a connection of its own, and connects again for as long as it takes. */
export const listen = (deps: ListenDeps): { close: () => Promise<void> } => {
  const stopped = new AbortController()
  const hosts = createHosts(deps.url)

  const follow = async (): Promise<void> => {
    for (let failures = 0; !stopped.signal.aborted; failures++) {
      const wasUp = await stayConnected(deps, hosts, stopped.signal)
      if (wasUp) failures = 0
      await pause(waits[Math.min(failures, waits.length - 1)] ?? 0, stopped.signal)
    }
  }
  const following = follow()

  return {
    close: async () => {
      stopped.abort()
      // Not for long: a connection attempt to a Postgres that hangs would hold up the stop.
      await Promise.race([following, sleep(hangUpWithin, undefined, { ref: false })])
    },
  }
}

/** One connection, from its first byte to its last. Resolves to whether it ever listened. */
const stayConnected = async (deps: ListenDeps, hosts: Hosts | undefined, stop: AbortSignal): Promise<boolean> => {
  const { url, channel, onMessage, onUp, onDown, log } = deps
  const client = createClient(
    {
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      query_timeout: answerWithin,
      application_name: `listen ${channel}`,
    },
    hosts,
  )
  const lost = new AbortController()
  let isUp = false
  client.on('error', () => lost.abort())
  client.on('end', () => lost.abort())
  client.on('notification', ({ payload }) => onMessage(payload ?? ''))
  try {
    await client.connect()
    await client.query(`listen ${client.escapeIdentifier(channel)}`)
    isUp = true
    log.info({ channel }, 'listening to Postgres')
    onUp()
    const over = AbortSignal.any([stop, lost.signal])
    while (!over.aborted) {
      await pause(pingEvery, over)
      if (!over.aborted) await client.query('select 1')
    }
    if (lost.signal.aborted) throw new Error('the connection was cut')
  } catch (error) {
    // One warning when listening ends is enough; the attempts after it fail every two seconds with the same message.
    log[isUp ? 'warn' : 'debug']({ err: error, channel }, 'not listening to Postgres')
  } finally {
    if (isUp) onDown()
    await hangUp(client)
  }
  return isUp
}

// Over a dead link the polite end gets no answer, so it is not waited for.
const hangUp = async (client: pg.Client): Promise<void> => {
  const ended = client.end().catch(() => undefined)
  await Promise.race([ended, sleep(200, undefined, { ref: false })])
  ;(client as unknown as { connection: { stream: { destroy: () => void } } }).connection.stream.destroy()
}

const pause = (ms: number, over: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal: over }).catch(() => undefined)
