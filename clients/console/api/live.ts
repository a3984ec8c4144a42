import { messageOf } from './ask.js'

/** One server-sent event; `data` is its JSON. */
export type LiveEvent = { name: string; data: unknown }

/** Follows server-sent events until `signal` ends it. Not by EventSource, which can send a key only in the address. */
export const followLive = (
  path: string,
  { key, signal, onEvent, onState }: LiveOptions & { onState: (state: LiveState) => void },
): void => {
  const run = async () => {
    for (let failures = 0; !signal.aborted; ) {
      const begin = () => {
        failures = 0
        onState({ isOpen: true })
      }
      const outcome = await readOnce(path, { key, signal, onEvent }, begin)
      if (signal.aborted) return
      failures += 1
      onState({ isOpen: false, ...outcome })
      if (outcome.isRefused) return
      await pause(Math.min(15_000, 1_000 * 2 ** Math.min(failures, 4)) * (0.5 + Math.random() / 2), signal)
    }
  }
  void run()
}

type LiveOptions = { key: string; signal: AbortSignal; onEvent: (event: LiveEvent) => void }

/** `isRefused` where asking again would not help. `status` is undefined where no answer came, `reason` is what a refusal said. */
export type LiveState = { isOpen: boolean; isRefused?: boolean; status?: number; reason?: string }

// The edge writes at least a comment every 10 s.
const longestSilence = 30_000

const readOnce = async (
  path: string,
  { key, signal, onEvent }: LiveOptions,
  onOpen: () => void,
): Promise<Omit<LiveState, 'isOpen'>> => {
  const ending = new AbortController()
  const end = () => ending.abort()
  signal.addEventListener('abort', end)
  let timer = setTimeout(end, longestSilence)
  try {
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${key}` }
    const response = await fetch(path, { headers, signal: ending.signal })
    if (!response.ok || !response.body) {
      const { status } = response
      const reason = messageOf(status, await response.json().catch(() => undefined))
      return { status, isRefused: [400, 401, 403, 404].includes(status), reason }
    }
    onOpen()
    const take = createEventReader(onEvent)
    const reader = response.body
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>)
      .getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return { status: response.status }
      clearTimeout(timer)
      timer = setTimeout(end, longestSilence)
      take(value)
    }
  } catch {
    // Broken off, or silent for too long: the caller opens it anew.
    return {}
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}

/** Takes the text of a stream in pieces of any size, and hands on each event once it is whole. */
export const createEventReader = (onEvent: (event: LiveEvent) => void): ((text: string) => void) => {
  let held = ''
  let name = 'message'
  let data: string[] = []
  const takeLine = (line: string) => {
    if (line === '') {
      const json = data.length > 0 ? parse(data.join('\n')) : undefined
      if (json !== undefined) onEvent({ name, data: json })
      name = 'message'
      data = []
    } else if (line.startsWith('event:')) name = line.slice(6).trim()
    else if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
  }
  return (text) => {
    held += text
    // A line break of two characters may come in two pieces.
    const lines = held.split(/\r\n|\n|\r(?!$)/)
    held = lines.pop() ?? ''
    for (const line of lines) takeLine(line)
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
