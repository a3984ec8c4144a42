import { type SendableType, toText } from '../send.js'
import { WeirError } from '../weir-error.js'

/** Records that go into one request. `first` is the place of the first one in the iterable. */
export type RecordBatch<Item> = {
  first: number
  texts: string[]
  /** The ids of those that have one. */
  ids: string[]
  /** The records themselves, where `onRefused` or `onWaiting` is to get them. */
  records: Item[]
}

/** Cuts an iterable into batches that one request can carry, and reads no record more than the batch asked for needs. */
export const createBatchSource = <Item>(
  records: Iterable<Item> | AsyncIterable<Item>,
  type: SendableType,
  { batchSize = type.limit, isKept }: { batchSize?: number | undefined; isKept: boolean },
) => {
  const iterator = iteratorOf(records)
  if (!(batchSize >= 1))
    throw new WeirError(
      'usage',
      `batchSize is ${batchSize}`,
      `give it as a number from 1 to ${type.limit}, or leave it out`,
    )
  const most = Math.min(type.limit, Math.floor(batchSize))
  let mostBytes = largestBody
  let given = 0
  let held: Written<Item> | undefined
  let isOver = false
  let isReading = false
  let interrupt: (reason: unknown) => void = () => {}
  let stopped: { reason: unknown } | undefined

  const orStopped = (reading: PromiseLike<IteratorResult<Item>>): Promise<IteratorResult<Item>> => {
    isReading = true
    return new Promise<IteratorResult<Item>>((resolve, reject) => {
      interrupt = reject
      Promise.resolve(reading)
        .then(resolve, reject)
        .finally(() => {
          isReading = false
        })
    })
  }

  const nextRecord = async (index: number): Promise<Written<Item> | undefined> => {
    if (isOver) return undefined
    let result: IteratorResult<Item>
    try {
      const reading = iterator.next()
      result = 'then' in reading ? await orStopped(reading) : reading
    } catch (cause) {
      if (stopped) throw stopped.reason
      isOver = true
      throw new WeirError('usage', `record ${index} could not be read: ${cause}`, goOn, { cause })
    }
    if (result.done) isOver = true
    return result.done ? undefined : write(result.value, index)
  }

  return {
    /** The next batch; undefined at the end. */
    next: async (): Promise<RecordBatch<Item> | undefined> => {
      const batch: RecordBatch<Item> = { first: given, texts: [], ids: [], records: [] }
      let bytes = 0
      let values = 0
      while (batch.texts.length < most) {
        if (stopped) throw stopped.reason
        const one = held ?? (await nextRecord(given + batch.texts.length))
        held = undefined
        if (!one) break
        bytes += one.bytes + 1
        values += one.values
        if (batch.texts.length > 0 && (bytes > mostBytes || values > mostValues)) {
          held = one
          break
        }
        batch.texts.push(one.text)
        const id = (one.item as Record<string, unknown> | null)?.[type.id]
        if (typeof id === 'string') batch.ids.push(id)
        if (isKept) batch.records.push(one.item)
      }
      given += batch.texts.length
      return batch.texts.length > 0 ? batch : undefined
    },
    /** How many records were given out. */
    given: (): number => given,
    /** Requests of this many bytes are too large here: the next ones are to be half as large. */
    shrink: (tooMany: number): void => {
      mostBytes = Math.min(mostBytes, Math.floor(tooMany / 2))
    },
    /** Ends a wait for the next record with this reason. */
    stop: (reason: unknown): void => {
      stopped ??= { reason }
      interrupt(reason)
    },
    /** Ends the iterable, of which no more is read. */
    close: async (): Promise<void> => {
      if (isOver) return
      isOver = true
      const closing = Promise.resolve(iterator.return?.()).catch(() => {})
      // A generator that waits for its own next value ends only after that: maybe never.
      if (!isReading) await closing
    },
  }
}

type Written<Item> = { item: Item; text: string; bytes: number; values: number }

// What the service takes, unless its operator set another BODY_LIMIT: 16 MiB with what stands around the records.
const largestBody = 16 * 1024 * 1024 - 64
// It reads at most 100 000 JSON values. Records with many unknown fields are refused one by one if they come in smaller
// requests; in a large one they would take the good ones with them.
const mostValues = 90_000

const goOn =
  'mend the source and upload again; records that were accepted before may be sent again, or left out up to progress.settled'

const write = <Item>(item: Item, index: number): Written<Item> => {
  try {
    const text = toText(item)
    const values = typeof item === 'object' && item !== null ? Object.keys(item).length + 1 : 1
    return { item, text, bytes: encoder.encode(text).length, values }
  } catch (cause) {
    throw new WeirError('usage', `record ${index} cannot be written as JSON: ${cause}`, goOn, { cause })
  }
}
const encoder = new TextEncoder()

const iteratorOf = <Item>(records: Iterable<Item> | AsyncIterable<Item>): Iterator<Item> | AsyncIterator<Item> => {
  if (typeof records === 'object' && records !== null) {
    if (Symbol.asyncIterator in records) return records[Symbol.asyncIterator]()
    if (Symbol.iterator in records) return records[Symbol.iterator]()
  }
  throw new WeirError(
    'usage',
    'upload() takes an array, an iterable or an async iterable of records',
    'put a single record into an array',
  )
}
