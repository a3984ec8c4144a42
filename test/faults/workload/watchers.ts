import { setTimeout as wait } from 'node:timers/promises'
import { mostOfKey } from '#query/live/streams.js'
import { eventually } from '../../support/eventually.js'
import type { Random } from '../random.js'
import type { Ledger } from './ledger.js'
import type { Organisation } from './workload.js'

const watchersOfEach = 2
const longestLook = 8_000
const paths = [
  '/v1/live',
  ...['accepted.shops', 'interactions', 'rejected'].map((t) => `/v1/topics/weir.${t}/events/live`),
]
const freeWithin = 30_000

type Deps = { organisations: readonly Organisation[]; edgeUrls: readonly string[]; ledger: Ledger; random: Random }

/** People who look at live streams: they come, read for a while, leave without a word, and come again. */
export const startWatchers = ({ organisations, edgeUrls, ledger, random }: Deps) => {
  const stopped = new AbortController()

  const look = async ({ org, apiKey }: Organisation, own: Random): Promise<void> => {
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(own.int(100, longestLook))])
    const answer = await open(own.pick(edgeUrls), own.pick(paths), apiKey, signal)
    if (answer.status !== 200) {
      await answer.body?.cancel()
      return
    }
    const decoder = new TextDecoder()
    let text = ''
    for await (const piece of answer.body ?? []) {
      const blocks = (text + decoder.decode(piece, { stream: true })).split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const [, event, data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? []
        if (event !== 'event') continue
        const { value } = JSON.parse(data) as { value: { org_id: string } }
        if (value.org_id !== org) ledger.surprises.push(`${org} was shown an event of ${value.org_id}`)
        ledger.watched++
      }
    }
  }
  const live = async (organisation: Organisation, own: Random): Promise<void> => {
    while (!stopped.signal.aborted) {
      // Cut off is what faults do to streams, and what we do to them ourselves.
      await look(organisation, own).catch(() => undefined)
      await wait(own.int(50, 500))
    }
  }
  const lives = organisations.flatMap((organisation) =>
    Array.from({ length: watchersOfEach }, (_, n) => live(organisation, random.fork(`${organisation.org}-${n}`))),
  )
  return {
    stop: async (): Promise<void> => {
      stopped.abort()
      await Promise.all(lives)
    },
  }
}

/** Whether all streams that were ever opened were given back: as many open as a key may have, at each edge, and no more. */
export const expectStreamsFree = async ({ organisations, edgeUrls }: Pick<Deps, 'organisations' | 'edgeUrls'>) => {
  for (const { org, apiKey } of organisations)
    for (const url of edgeUrls)
      await eventually(async () => {
        const leave = new AbortController()
        try {
          const statuses: number[] = []
          for (let n = 0; n <= mostOfKey; n++)
            statuses.push((await open(url, paths[n % paths.length] ?? '', apiKey, leave.signal)).status)
          const wanted = [...Array.from({ length: mostOfKey }, () => 200), 429]
          if (String(statuses) !== String(wanted)) throw new Error(`${org} opened streams at ${url}: ${statuses}`)
        } finally {
          leave.abort()
        }
      }, freeWithin)
}

const open = (url: string, path: string, apiKey: string, signal: AbortSignal): Promise<Response> =>
  fetch(`${url}${path}`, { headers: { authorization: `Bearer ${apiKey}` }, signal })
