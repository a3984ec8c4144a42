import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from '../sample.js'
import { sized } from '../sized.js'
import type { Uploader } from './uploader.js'

/** Uploads shops until told to stop; `acknowledged` are their ids. */
export const keepUploading = (...uploaders: Uploader[]) =>
  keepSending(uploaders, (key) => {
    const records = Array.from({ length: 20 }, () => sampleOf(shop, { is_deleted: false }))
    const ids = records.map(({ shop_id }) => String(shop_id))
    return async (uploader) => ({ ...(await uploader.upload('shops', records, key)), ids })
  })

/** Records interactions with a shop until told to stop; `acknowledged` are their ids. */
export const keepInteracting = (shopId: string, ...uploaders: Uploader[]) =>
  keepSending(uploaders, (key) => {
    const given = sampleOf(interaction, { item_type: 'SHOP', item_id: shopId, student_id: null })
    return async (uploader) => {
      const answer = await uploader.interact(given, key)
      return { ...answer, ids: [String(answer.body.interaction_id)] }
    }
  })

type Key = { 'idempotency-key': string }
type Sent = { status: number; body: unknown; ids: string[] }
type Failure = { status: number | 'cut off'; body: unknown }

/** Enough that there is always something under way, without keeping a core busy. */
const pauseMs = sized(30, 0)

/** What a client may be told while something is broken. */
const passing = ['cut off', 207, 500, 503]

/**
 * As a careful client does: the same request with the same key until it gets an answer that it can use. With several edges
 * it turns to the next one each time, as a load balancer would.
 */
const keepSending = (uploaders: Uploader[], next: (key: Key) => (uploader: Uploader) => Promise<Sent>) => {
  const acknowledged: string[] = []
  const failures: Failure[] = []
  let isStopped = false
  let turn = 0

  const sendOne = async (): Promise<void> => {
    const send = next({ 'idempotency-key': randomUUID() })
    for (;;) {
      const uploader = uploaders[turn++ % uploaders.length] as Uploader
      const answer: Sent | Failure = await send(uploader).catch((error: Error) => ({
        status: 'cut off' as const,
        body: String(error.cause ?? error),
      }))
      if ('ids' in answer && (answer.status === 200 || answer.status === 201)) {
        acknowledged.push(...answer.ids)
        return
      }
      expect(passing, JSON.stringify(answer.body)).toContain(answer.status)
      failures.push({ status: answer.status, body: answer.body })
      await wait(200)
    }
  }
  const done = (async () => {
    while (!isStopped) {
      await sendOne()
      await wait(pauseMs)
    }
  })()

  return {
    acknowledged,
    failures,
    /** Resolves once the request under way is acknowledged too. */
    stop: () => {
      isStopped = true
      return done
    },
  }
}
