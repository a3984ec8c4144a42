import { setTimeout as wait } from 'node:timers/promises'
import { createUploader } from '../../support/system/uploader.js'
import type { Random } from '../random.js'
import type { Organisation } from '../workload/workload.js'

/** What a reader of an organisation's feed was handed, in that order. */
export type Followed = { org: string; type: string; id: string; version: number; isDeleted: boolean }

const answerWithin = 15_000
/** What a reader may take as "ask again". */
const askAgain = [408, 429, 500, 502, 503, 504]

/**
 * Reads the feeds of these organisations from their beginning on, while all sorts of things happen: at one edge or the other, in pages of
 * different sizes, with waits. An answer that did not arrive is asked for again with the cursor before it.
 */
export const startFollowing = (deps: {
  organisations: readonly Organisation[]
  edgeUrls: readonly string[]
  random: Random
}) => {
  const followed: Followed[] = []
  const surprises: string[] = []
  let isStopping = false
  let isAbandoned = false

  const follow = async ({ org, apiKey }: Organisation, random: Random): Promise<void> => {
    const edges = deps.edgeUrls.map((url) => createUploader(url, apiKey, { answerWithin }))
    for (let after = 'beginning'; !isAbandoned; ) {
      const query = new URLSearchParams({ types: 'all', after, limit: String(random.pick([1, 7, 100, 5000])) })
      if (!isStopping) query.set('wait', random.pick(['0s', '1s', '3s']))
      const asked = random.pick(edges).get<FeedAnswer>(`/v1/feeds?${query}`)
      const { status, body } = await asked.catch(() => ({ status: 503, body: undefined }))
      if (status === 200 && body) {
        for (const { type, id, version, is_deleted: isDeleted } of body.events)
          followed.push({ org, type, id, version, isDeleted })
        after = body.next
        if (isStopping && body.events.length === 0) return
      } else if (!askAgain.includes(status)) {
        surprises.push(`a feed of ${org} is answered ${status}: ${JSON.stringify(body)}`)
        return
      } else await wait(200)
    }
  }
  const following = deps.organisations.map((each) => follow(each, deps.random.fork(each.org)))
  return {
    /** Reads on to the end, and resolves to all that was handed over. */
    stop: async (): Promise<{ followed: Followed[]; surprises: string[] }> => {
      isStopping = true
      await Promise.all(following)
      return { followed, surprises }
    },
    /** Where there is no system left to ask. */
    abandon: (): void => {
      isAbandoned = true
    },
  }
}

type FeedAnswer = { events: { type: string; id: string; version: number; is_deleted: boolean }[]; next: string }
