import { followLive, type LiveEvent, type LiveState } from './live.js'
import { aboutOrg, type ConsoleSession } from './session.js'

type SharedOptions = {
  signal: AbortSignal
  onEvent: (event: LiveEvent) => void
  onState: (state: LiveState) => void
  /** Of the events until now, those that a tab needs that joins later. */
  remember: (kept: readonly LiveEvent[], event: LiveEvent) => readonly LiveEvent[]
}

type Passed = { event: LiveEvent } | { state: LiveState } | { hello: true }

/**
 * Follows a stream together with the other tabs of this browser: a key may have four of them. The tab that holds the lock reads, and
 * passes on what comes; when it leaves, the next one reads. Where there are no locks (not https), each tab reads for itself.
 */
export const followShared = (
  session: Pick<ConsoleSession, 'key' | 'me' | 'org'>,
  path: string,
  { signal, onEvent, onState, remember }: SharedOptions,
): void => {
  const { key, me } = session
  const address = aboutOrg(session, path)
  const locks = globalThis.navigator?.locks
  if (!locks) {
    followLive(address, { key, signal, onEvent, onState })
    return
  }
  // Tabs with another key may not see the same. The key itself is in no name and in no message.
  const title = `weir.live ${me.key_id ?? me.org_id} ${address}`
  const channel = new BroadcastChannel(title)
  const pass = (passed: Passed) => channel.postMessage(passed)
  signal.addEventListener('abort', () => channel.close())

  channel.onmessage = ({ data }: MessageEvent<Passed>) => {
    if ('event' in data) onEvent(data.event)
    if ('state' in data) onState(data.state)
  }
  pass({ hello: true })

  const read = () =>
    new Promise<void>((resolve) => {
      if (signal.aborted) return resolve()
      signal.addEventListener('abort', () => resolve())
      let kept: readonly LiveEvent[] = []
      let state: LiveState | undefined
      channel.onmessage = ({ data }: MessageEvent<Passed>) => {
        if (!('hello' in data)) return
        // Those who know them already take nothing from hearing them again.
        for (const event of kept) pass({ event })
        if (state) pass({ state })
      }
      followLive(address, {
        key,
        signal,
        onEvent: (event) => {
          kept = remember(kept, event)
          pass({ event })
          onEvent(event)
        },
        onState: (next) => {
          state = next
          pass({ state: next })
          onState(next)
        },
      })
    })
  // Ends with the signal, while it waits too.
  locks.request(title, { signal }, read).catch(() => {})
}
