import { createPauses, type Pause } from '../../process/pauses.js'
import {
  isControl,
  isTransactional,
  type Received,
  readHeader,
  readInt64,
  readRecords,
  unpackRecords,
} from './record-batch.js'

/** What a fetch asked for. */
type Asked = {
  /** The version of Kafka's fetch request, 4 to 11. */
  version: number
  /** The first offset that is wanted of a partition: Kafka answers with whole record batches. */
  offsetOf: (topic: string, partition: number) => number
  /** The most that is unpacked; the record batch that exceeds it is the last one, and what follows is fetched again. */
  bytes: number
}

/** What kafkajs takes for one message, with all of a partition's in it: it looks at offset and control record only. */
export type StandIn = { offset: string; isControlRecord: boolean; received: Received[] }

/** Reads Kafka's answer to a fetch, in the shape in which kafkajs's own decoder would hand it on. */
export const decodeFetchAnswer = async (answer: Buffer, asked: Asked) => {
  const { version } = asked
  const room = { left: asked.bytes }
  const pause = createPauses()
  const read = createReader(answer)
  const throttleTime = read.int32()
  const errorCode = version >= 7 ? read.int16() : 0
  const sessionId = version >= 7 ? read.int32() : 0
  const responses: AnsweredTopic[] = []
  const logs: { log: Buffer; from: number; aborted: Aborted[]; messages: StandIn[] }[] = []
  for (let topics = read.int32(); topics > 0; topics--) {
    const topicName = read.text()
    const partitions: AnsweredTopic['partitions'] = []
    for (let left = read.int32(); left > 0; left--) {
      const partition = read.int32()
      const partitionError = read.int16()
      const highWatermark = String(read.int64())
      const lastStableOffset = String(read.int64())
      if (version >= 5) read.int64()
      const aborted: Aborted[] = []
      for (let count = read.int32(); count > 0; count--)
        aborted.push({ producerId: read.int64(), firstOffset: read.int64() })
      const preferredReadReplica = version >= 11 ? read.int32() : -1
      const from = asked.offsetOf(topicName, partition)
      const messages: StandIn[] = []
      const log = read.bytes()
      if (log.length > 0) logs.push({ log, from, aborted, messages })
      partitions.push({
        partition,
        errorCode: partitionError,
        highWatermark,
        lastStableOffset,
        preferredReadReplica,
        // Their messages are left out already.
        abortedTransactions: [],
        messages,
      })
    }
    responses.push({ topicName, partitions })
  }
  // Kafka names the partitions in the same order again and again: those at the end would never be unpacked while the others are full.
  const first = Math.floor(Math.random() * logs.length)
  for (const { log, from, aborted, messages } of [...logs.slice(first), ...logs.slice(0, first)])
    messages.push(...(await decodeLog(log, { from, aborted, room, pause })))
  // From version 8 on it is the client that has to wait, and kafkajs does so.
  return { throttleTime: 0, clientSideThrottleTime: version >= 8 ? throttleTime : 0, errorCode, sessionId, responses }
}

type AnsweredTopic = {
  topicName: string
  partitions: {
    partition: number
    errorCode: number
    highWatermark: string
    lastStableOffset: string
    preferredReadReplica: number
    abortedTransactions: never[]
    messages: StandIn[]
  }[]
}
type Aborted = { producerId: number; firstOffset: number }

const decodeLog = async (
  log: Buffer,
  deps: { from: number; aborted: Aborted[]; room: { left: number }; pause: Pause },
): Promise<StandIn[]> => {
  const received: Received[] = []
  let { aborted } = deps
  /** The producers whose messages belong to a transaction that was given up. */
  const givenUp = new Set<number>()
  let lastOffset: number | undefined
  for (let at = 0; deps.room.left > 0; ) {
    await deps.pause()
    const header = readHeader(log, at)
    if (!header) break
    const begun = aborted.filter(({ firstOffset }) => firstOffset <= header.lastOffset)
    for (const { producerId } of begun) givenUp.add(producerId)
    if (begun.length > 0) aborted = aborted.filter((each) => !begun.includes(each))
    // A control batch is the end of its producer's transaction.
    if (isControl(header)) givenUp.delete(header.producerId)
    else if (!isTransactional(header) || !givenUp.has(header.producerId)) {
      const records = await unpackRecords(log, at, header)
      deps.room.left -= records.length
      readRecords(records, header, deps.from, received)
    }
    lastOffset = header.lastOffset
    at += header.size
  }
  if (lastOffset === undefined) return []
  return [{ offset: String(lastOffset), isControlRecord: received.length === 0, received }]
}

const createReader = (answer: Buffer) => {
  let at = 0
  const move = (size: number): number => {
    at += size
    return at - size
  }
  return {
    int16: () => answer.readInt16BE(move(2)),
    int32: () => answer.readInt32BE(move(4)),
    int64: () => readInt64(answer, move(8)),
    text: () => {
      const length = answer.readInt16BE(move(2))
      return answer.toString('utf8', move(length), at)
    },
    bytes: () => {
      const length = Math.max(0, answer.readInt32BE(move(4)))
      return answer.subarray(move(length), at)
    },
  }
}
