import type { CallOptions } from '../call.js'
import { type Interaction, recordTypes } from '../record-types.js'
import { newKey, type SendResult, type SendTexts, sendInHalves, toText } from '../send.js'
import type { WaitOptions } from '../waiting.js'
import { type RecordProblem, WeirError } from '../weir-error.js'
import { isPage, whenLeaving } from './leaving.js'

/** How a recorder works. Without any of it: up to 500 interactions, or those of a second, are sent at once, and 8 MiB are held. */
export type RecorderOptions = Pick<CallOptions, 'onRetry'> &
  WaitOptions & {
    /** How many interactions are sent in one request: 500 by default, 5000 at the most. */
    batchSize?: number | undefined
    /** How many milliseconds an interaction waits for others to be sent with: 1000 by default. */
    everyMs?: number | undefined
    /** The most bytes that are held, as JSON, those under way too; 8 MiB unless said. */
    mostBytes?: number | undefined
    /** What becomes of an interaction where no more may be held: it is not taken (`refuse`), or the oldest make room for it. */
    whenFull?: 'refuse' | 'dropOldest' | undefined
    /** Is called for each interaction that the service refused. */
    onRefused?: ((refusal: RecorderRefusal) => unknown) | undefined
    /** Is called for interactions that will not be sent any more: no room was left, the service cannot take them, or the end came. */
    onLost?: ((lost: RecorderLoss) => unknown) | undefined
  }

export type RecorderRefusal = { interaction: Interaction; problems: readonly RecordProblem[]; requestId: string }
export type RecorderLoss = { interactions: Interaction[]; error: WeirError }

/** What became of all interactions so far. Those that are `held` are yet to be decided. */
export type RecorderCounts = { accepted: number; refused: number; waiting: number; lost: number; held: number }

/** Sends interactions that come one by one many at a time, each of them effectively once. */
export type Recorder = {
  /** Takes an interaction as it is now, to be sent soon. False where it is full, and this one was not taken. */
  record: (interaction: Interaction) => boolean
  /** Sends what is held; rejects where some of it cannot be sent now, which is then tried again later. */
  flush: () => Promise<RecorderCounts>
  /** Ends the recorder: `record()` throws from now on. Interactions that it holds are sent for up to `withinMs`, 10 seconds by default; those that could not be sent are handed to `onLost`. */
  close: (options?: { withinMs?: number | undefined }) => Promise<RecorderCounts>
  counts: () => RecorderCounts
}

/** Interactions that are sent in one request: with the same key and the same body each time, so that they are taken once. */
type Chunk = { key: string; texts: string[]; bytes: number; onTried: ((error?: unknown) => void)[] }

const atOnce = 4
// One attempt after another for this long; then what could not be sent is put back, and tried again after a rest. Only requests under
// way keep a Node process alive: with longer rounds, a program that is done would wait for a service that is away.
const roundMs = 20_000
const restMs = 5_000
const endsWithin = 10_000
// Browsers let requests with bodies of 64 KiB in all outlive their page. What is sent there comes in pieces that fit.
const mostLeaving = 60_000
const chunkBytes = { page: 16_000, elsewhere: 1024 * 1024 }

export const createRecorder = (
  sendTexts: SendTexts,
  {
    batchSize = 500,
    everyMs = 1_000,
    mostBytes = 8 * 1024 * 1024,
    whenFull = 'refuse',
    onRefused,
    onLost,
    ...options
  }: RecorderOptions = {},
): Recorder => {
  const type = recordTypes.interactions
  const mostRecords = wholeNumber('batchSize', batchSize, type.limit)
  wholeNumber('everyMs', everyMs, 2 ** 31 - 1)
  wholeNumber('mostBytes', mostBytes, Number.MAX_SAFE_INTEGER)
  const largest = isPage() ? chunkBytes.page : chunkBytes.elsewhere
  const counts = { accepted: 0, refused: 0, waiting: 0, lost: 0 }
  let open: Chunk = newChunk()
  let queue: Chunk[] = []
  const underWay = new Set<Chunk>()
  let heldBytes = 0
  let leavingBytes = 0
  let soon: Timer | undefined
  let rest: Timer | undefined
  let stop = new AbortController()
  let isClosed = false

  const allHeld = (): Chunk[] => [...queue, ...underWay, ...(open.texts.length > 0 ? [open] : [])]
  const countsNow = (): RecorderCounts => ({
    ...counts,
    held: allHeld().reduce((sum, { texts }) => sum + texts.length, 0),
  })

  const lose = (texts: readonly string[], error: WeirError): void => {
    counts.lost += texts.length
    call(() => onLost?.({ interactions: texts.map(parse), error }))
  }
  const settle = (chunk: Chunk): void => {
    heldBytes -= chunk.bytes
    queue = queue.filter((each) => each !== chunk)
    underWay.delete(chunk)
  }
  const isHeld = (chunk: Chunk): boolean => queue.includes(chunk) || underWay.has(chunk)

  const note = (chunk: Chunk, { requestId, accepted, refused, waiting }: SendResult): void => {
    // Sent twice where a page was left meanwhile: the same answer came before.
    if (!isHeld(chunk)) return
    settle(chunk)
    counts.accepted += accepted
    counts.refused += refused.length
    counts.waiting += waiting.length
    for (const { index, problems } of refused) {
      const interaction = parse(chunk.texts[index] ?? 'null')
      call(() => onRefused?.({ interaction, problems, requestId }))
    }
  }

  const send = async (chunk: Chunk, keepalive = false): Promise<void> => {
    const how = { ...options, giveUpAfterMs: roundMs, signal: stop.signal, keepalive }
    let failure: unknown
    try {
      const sendSome = (texts: readonly string[], half: string) =>
        sendTexts(type, texts, { ...how, idempotencyKey: `${chunk.key}${half}` })
      note(chunk, await sendInHalves(chunk.texts, sendSome))
    } catch (error) {
      failure = error
      if (isHeld(chunk) && isFinal(error)) {
        settle(chunk)
        lose(chunk.texts, error)
      } else if (underWay.delete(chunk)) {
        queue.unshift(chunk)
        rest ??= unheld(setTimeout(goOn, restMs))
      }
    }
    for (const tell of chunk.onTried.splice(0)) tell(failure)
    pump()
  }

  const goOn = (): void => {
    clearTimeout(rest)
    rest = undefined
    pump()
  }
  const pump = (): void => {
    while (rest === undefined && underWay.size < atOnce) {
      const chunk = queue.shift()
      if (!chunk) return
      underWay.add(chunk)
      void send(chunk)
    }
  }

  /** What was recorded by now is sent together. */
  const seal = (): void => {
    clearTimeout(soon)
    soon = undefined
    if (open.texts.length === 0) return
    queue.push(open)
    open = newChunk()
  }

  const sendSoon = (): void => {
    seal()
    pump()
  }

  const makeRoom = (bytes: number): boolean => {
    const isFull = () => heldBytes + bytes > mostBytes
    if (whenFull === 'dropOldest') {
      if (isFull() && queue.length === 0) seal()
      while (isFull()) {
        const [oldest] = queue
        if (!oldest) break
        settle(oldest)
        lose(oldest.texts, full('the oldest were dropped'))
        for (const tell of oldest.onTried.splice(0)) tell()
      }
    }
    return !isFull()
  }

  const flush = async (): Promise<RecorderCounts> => {
    seal()
    const tried = [...queue, ...underWay].map(
      (chunk) => new Promise<unknown>((resolve) => void chunk.onTried.push(resolve)),
    )
    goOn()
    const failure = (await Promise.all(tried)).find((error) => error !== undefined)
    if (failure !== undefined && countsNow().held > 0) throw failure
    return countsNow()
  }

  /** Sends what is held while there is time; the rest is lost. */
  const end = async (withinMs: number): Promise<RecorderCounts> => {
    const tooLate = new WeirError('network', `not sent within ${withinMs} ms`, 'give close() more time with withinMs')
    const deadline = unheld(setTimeout(() => stop.abort(tooLate), withinMs))
    let error = tooLate
    const keepReason = (reason: unknown): void => {
      if (reason instanceof WeirError) error = reason
    }
    while (countsNow().held > 0 && !stop.signal.aborted) await flush().then(() => {}, keepReason)
    clearTimeout(deadline)
    const left = allHeld()
    open = newChunk()
    for (const chunk of left) {
      settle(chunk)
      lose(chunk.texts, error)
    }
    stop = new AbortController()
    return countsNow()
  }

  /** A page is left, and may come back: what was not answered is sent in a way that outlives it, as far as a browser allows. */
  const leavePage = (): void => {
    seal()
    // Those under way as well, with their keys: the browser ends their requests with the page.
    for (const chunk of [...underWay, ...queue]) {
      if (leavingBytes + chunk.bytes > mostLeaving) continue
      leavingBytes += chunk.bytes
      queue = queue.filter((each) => each !== chunk)
      underWay.add(chunk)
      void send(chunk, true).finally(() => {
        leavingBytes -= chunk.bytes
      })
    }
  }

  const stayed = whenLeaving({ page: leavePage, process: () => (countsNow().held > 0 ? end(endsWithin) : undefined) })

  return {
    record: (interaction) => {
      if (isClosed) throw new WeirError('usage', 'the recorder is closed', 'record before close(), or make another one')
      const text = toText(interaction)
      const bytes = encoder.encode(text).length + 1
      if (!makeRoom(bytes)) {
        lose([text], full('this one was not taken'))
        return false
      }
      if (open.bytes + bytes > largest) seal()
      heldBytes += bytes
      open.bytes += bytes
      open.texts.push(text)
      if (open.texts.length >= mostRecords) seal()
      else soon ??= unheld(setTimeout(sendSoon, everyMs))
      pump()
      return true
    },
    flush,
    close: async ({ withinMs = endsWithin } = {}) => {
      isClosed = true
      stayed()
      return end(withinMs)
    },
    counts: countsNow,
  }
}

/** Whether the same request would fail again. */
const isFinal = (error: unknown): error is WeirError =>
  error instanceof WeirError && error.kind !== 'network' && error.kind !== 'server'

const newChunk = (): Chunk => ({ key: newKey(), texts: [], bytes: 0, onTried: [] })
const parse = (text: string): Interaction => JSON.parse(text) as Interaction
const encoder = new TextEncoder()

const full = (what: string): WeirError =>
  new WeirError(
    'usage',
    `the recorder holds as much as it may; ${what}`,
    'give it more with mostBytes, record less, or await flush() where record() is false',
  )

type Timer = ReturnType<typeof setTimeout>

/** A timer that lets a Node process end. Browsers give numbers. */
const unheld = (timer: Timer): Timer => {
  ;(timer as unknown as { unref?: () => void }).unref?.()
  return timer
}

/** A callback that throws is an error of the program, and shows as one; the recorder goes on. */
const call = (work: () => unknown): void => {
  try {
    work()
  } catch (error) {
    setTimeout(() => {
      throw error
    })
  }
}

const wholeNumber = (name: string, given: number, most: number): number => {
  if (Number.isInteger(given) && given >= 1 && given <= most) return given
  throw new WeirError('usage', `${name} is ${given}`, `give it as a whole number from 1 to ${most}, or leave it out`)
}
