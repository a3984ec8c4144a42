import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from './sample.js'
import type { Uploader } from './uploader.js'

/** What a client may be told while something is broken; it tries again, with the same key. */
const passing = ['cut off', 207, 500, 503]

/**
 * Uploads shops until told to stop, as a careful client does: the same key again until it gets an answer that it can use.
 * With several edges it turns to the next one, as a load balancer would.
 */
export const keepUploading = (...uploaders: Uploader[]) => {
  const acknowledged: string[] = []
  const failures: { status: number | 'cut off'; body: unknown }[] = []
  let isStopped = false
  let turn = 0
  const next = () => uploaders[turn++ % uploaders.length] as Uploader

  const upload = async (): Promise<void> => {
    const records = Array.from({ length: 20 }, () => sampleOf(shop, { is_deleted: false }))
    const key = { 'idempotency-key': randomUUID() }
    for (;;) {
      const { status, body } = await next()
        .upload('shops', records, key)
        .catch((error: Error) => ({ status: 'cut off' as const, body: String(error.cause ?? error) }))
      if (status === 200) break
      expect(passing, JSON.stringify(body)).toContain(status)
      failures.push({ status, body })
      await wait(200)
    }
    acknowledged.push(...records.map(({ shop_id }) => String(shop_id)))
  }
  const done = (async () => {
    while (!isStopped) await upload()
  })()

  return {
    acknowledged,
    failures,
    /** Resolves once the upload under way is acknowledged too. */
    stop: () => {
      isStopped = true
      return done
    },
  }
}
