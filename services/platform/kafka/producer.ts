import { setTimeout as wait } from 'node:timers/promises'

/**
 * A value of null says that the key has nothing any more. `traceparent` is sent as a header, where the message belongs to a trace that is
 * recorded.
 */
export type Message = { key: string; value: Buffer | null; traceparent?: string | undefined }

type SendOptions = {
  /** The moment (as of `performance.now()`) from which on nothing of this send may be appended any more. */
  deadline?: number
  /** Asked before each piece and each new try; throws where the sender may no longer write. */
  mayGoOn?: () => void
}

export type Producer = {
  /** Appends in order, and resolves once every replica in sync has it. Once it rejects, nothing more of it will be appended. */
  send: (topic: string, partition: number, messages: readonly Message[], options?: SendOptions) => Promise<void>
  /** Ends every send now, and takes no other. */
  giveUp: () => void
  close: () => Promise<void>
}

/** Connections to Kafka, on which a message is sent once. */
export type Wire = {
  /** `mayGoOn` is asked just before the messages leave; what it throws is what the send rejects with. */
  send: (topic: string, partition: number, messages: readonly Message[], mayGoOn: () => void) => Promise<void>
  /** Ends the connections so that nothing that is still on its way on them arrives, and opens no others. */
  reset: () => void
  close: () => Promise<void>
}

/** A refusal that another try would get again, such as a message that is too large. */
export class FinalRefusal extends Error {}

// Readers unpack a send as a whole, so they need room for one: large messages go in several. That bounds the messages too,
// since each counts with its key and with what Kafka writes around it; encoding the smallest ones takes 20 ms.
const mostBytesInOneSend = 1024 * 1024
const bytesAroundMessage = 16
// A broker that has not answered for this long is not waited for: its connection may be dead without a sign.
const answerWithin = 10_000
const longestTry = 30_000
const firstPause = 100
const longestPause = 2_000

/**
 * Tries each send again until its deadline. The only place that does: a library that went on trying after its caller gave up
 * would append an old batch behind a newer one, and so would a buffer of the operating system. So a send without an answer is
 * cut off together with its connections; other sends that were under way on them are tried again on new ones.
 */
export const createProducer = async (open: () => Promise<Wire>, now = () => performance.now()): Promise<Producer> => {
  let wire: Promise<Wire> | undefined
  const underWay = new Set<(error: Error) => void>()
  let isOver = false
  let pending = 0

  const current = (): Promise<Wire> => {
    if (wire) return wire
    const opening = open()
    wire = opening
    opening.catch(() => {
      if (wire === opening) wire = undefined
    })
    return opening
  }

  const discard = (used: Promise<Wire>): void => {
    if (wire === used) wire = undefined
    used.then(
      ({ reset }) => reset(),
      () => {},
    )
  }

  const cutOff = (): void => {
    for (const end of underWay) end(new Error('the producer is closed'))
  }

  const tryOnce = async (work: (used: Wire) => Promise<void>, within: number): Promise<void> => {
    const used = current()
    let end = (_: Error): void => {}
    // A promise for each try: one for all would keep something of every race that it was part of, 300 bytes a send.
    const ended = new Promise<never>((_, reject) => {
      end = reject
      underWay.add(end)
    })
    const timer = setTimeout(() => {
      discard(used)
      end(new Error(`no answer within ${Math.round(within)} ms`))
    }, within)
    try {
      await Promise.race([used.then(work), ended])
    } finally {
      clearTimeout(timer)
      underWay.delete(end)
    }
  }

  const sendPiece = async (
    topic: string,
    partition: number,
    piece: readonly Message[],
    deadline: number,
    mayGoOn: () => void,
  ): Promise<void> => {
    const failed = (cause: unknown): Error =>
      // Wrapped: what kafkajs holds for final would end a consumer's process; this is tried again until the topic is mended.
      new Error(`Kafka did not take ${piece.length} messages for ${topic}/${partition}`, { cause })
    let last: unknown = new Error('its time was over before it began')
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      mayGoOn()
      const left = deadline - now()
      // A timer may ring a fraction of a millisecond early, and no send is done in that.
      if (left < 1 || isOver) throw failed(last)
      try {
        await tryOnce((used) => used.send(topic, partition, piece, mayGoOn), Math.min(left, answerWithin))
        return
      } catch (error) {
        if (error instanceof FinalRefusal) throw failed(error)
        last = error
      }
      await wait(Math.max(0, Math.min(pause, deadline - now())))
    }
  }

  await current()
  return {
    send: async (topic, partition, messages, { deadline = now() + longestTry, mayGoOn = () => {} } = {}) => {
      pending++
      try {
        for (const piece of piecesOf(messages)) await sendPiece(topic, partition, piece, deadline, mayGoOn)
      } finally {
        pending--
      }
    },
    giveUp: () => {
      isOver = true
      if (wire) discard(wire)
      cutOff()
    },
    close: async () => {
      isOver = true
      if (!wire) return
      if (pending > 0) discard(wire)
      else await (await wire).close()
      cutOff()
    },
  }
}

function* piecesOf(messages: readonly Message[]): Generator<readonly Message[]> {
  let from = 0
  let bytes = 0
  for (const [at, { key, value }] of messages.entries()) {
    const size = key.length + (value?.length ?? 0) + bytesAroundMessage
    if (at > from && bytes + size > mostBytesInOneSend) {
      yield messages.slice(from, at)
      from = at
      bytes = 0
    }
    bytes += size
  }
  if (from < messages.length) yield messages.slice(from)
}
