import { setTimeout as wait } from 'node:timers/promises'
import { countWaiting, type WaitingCount } from '#ledger/waiting/look-up.js'
import type { Log } from '#platform/health/log.js'
import { tryAlone } from '#platform/postgres/alone.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { RelayTurn } from './relay.js'

const turnEvery = 200
// Where much arrives, what arrives within this time is sent together: ten times as long as it took to send what came before.
const gatherFor = { least: 25, most: 500, turns: 10 }
const idleFor = 1_000
// How soon another process takes over where the one that relays is gone.
const tryEvery = 3_000
// A turn is never this long, unless the process sleeps or Kafka hangs: then another one may take over.
const sleepWithin = 30_000
const stopWithin = 3_000
const countEvery = 5_000
// Counting a million takes a tenth of a second: at the most a fiftieth of the time goes into it.
const restFor = 50

/** Relays for as long as no other process does: one at a time, so that nothing is sent twice without need. */
export const startRelay = (deps: {
  pool: Pool
  turn: RelayTurn
  /** How many records wait, and since when the oldest does; undefined where another process tells. */
  counted: (count: WaitingCount | undefined) => void
  log: Log
}) => {
  const { pool, turn, counted, log } = deps
  const stopping = new AbortController()
  let isWoken = false
  let goOn = (): void => {}
  let countNext = 0
  let isAnyWaiting = false

  const wake = (): void => {
    isWoken = true
    goOn()
  }
  // A timer of our own: a signal that is made of two others anew five times a second is never given back by Node.
  const pause = async (ms: number): Promise<void> => {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      goOn = () => {
        clearTimeout(timer)
        resolve()
      }
      if (isWoken) goOn()
    })
    isWoken = false
  }

  const count = async (): Promise<void> => {
    const begin = performance.now()
    if (begin < countNext) return
    const found = await countWaiting(pool)
    isAnyWaiting = found.waiting > 0
    counted(found)
    countNext = performance.now() + Math.max(countEvery, restFor * (performance.now() - begin))
  }

  const relay = async (stillAlone: () => Promise<void>): Promise<void> => {
    while (!stopping.signal.aborted) {
      await stillAlone()
      const begin = performance.now()
      const done = await turn()
      const took = performance.now() - begin
      if (done !== 'nothing') isAnyWaiting = true
      await count()
      if (done === 'some') continue
      await pause(isAnyWaiting ? turnEvery : idleFor)
      await wait(Math.min(gatherFor.most, Math.max(gatherFor.least, gatherFor.turns * took)))
    }
  }

  const turns = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      try {
        await tryAlone(pool, 'weir waiting records', relay, { sleepWithin })
      } catch (error) {
        if (!stopping.signal.aborted)
          log.warn({ err: error }, 'waiting records could not be looked after, which is tried again')
      }
      counted(undefined)
      await wait(tryEvery, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }
  const done = turns()

  return {
    /** Something has come that others wait for. */
    wake,
    stop: (): Promise<void> => {
      stopping.abort()
      wake()
      // Not for long: a send to a Kafka that hangs would hold up the stop. What it leaves undone is done by the next one.
      return Promise.race([done, wait(stopWithin, undefined, { ref: false })])
    },
  }
}
