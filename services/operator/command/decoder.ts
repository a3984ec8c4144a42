import { setImmediate as breathe } from 'node:timers/promises'
import { NewerSchema, type Registry, Undecodable } from '#platform/registry.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import type { RecordType } from '#schemas/record.js'
import { OperatorError } from './operator-error.js'
import { persist } from './until.js'

/** Undefined: a message that cannot be decoded. */
export type Decode<T> = (message: Buffer | null) => Promise<T | undefined>

type Decoders = Pick<Registry, 'decoder'>

const messagesInOneBreath = 500

/** `whole` as the registry means it: an event that has more than this version knows fails, instead of losing it. */
export const createDecoder = <T>(registry: Decoders, schema: unknown, options: { whole?: boolean } = {}): Decode<T> => {
  const decode = registry.decoder<T>(schema, options)
  let decoded = 0
  return async (message) => {
    // Without a pause, a full fetch would hold the event loop for seconds, and with it heartbeats and the registry's answer.
    if (++decoded % messagesInOneBreath === 0) await breathe()
    try {
      return await patiently(() => decode(message))
    } catch (error) {
      if (error instanceof Undecodable) return undefined
      if (error instanceof NewerSchema) throw new OperatorError(`an event was ${error.message}: upgrade this command`)
      throw error
    }
  }
}

/** Decodes only these fields of an event and skips the rest, which may be long. */
export const createHeadDecoder = <Head>(
  registry: Decoders,
  schema: unknown,
  names: readonly (string & keyof Head)[],
): Decode<Head> => {
  const { fields, ...rest } = schema as { fields: { name: string }[] }
  return createDecoder<Head>(registry, { ...rest, fields: fields.filter(({ name }) => names.includes(name as never)) })
}

/** What is read of an accepted event. */
export type AcceptedHead = { batch_id: string; version: number }

export const createAcceptedDecoder = (registry: Decoders, type: RecordType): Decode<AcceptedHead> =>
  createHeadDecoder(registry, acceptedSchema(type), ['batch_id', 'version'])

/** Tries again for a minute while ClickHouse or the registry is not reached. Whatever they answer, good or bad, ends it. */
export const patiently = <T>(work: () => Promise<T>): Promise<T> =>
  persist(work, (error) => !isAnswer(error), { every: 500, within: 60_000 })

/** Whether a failure is what a server answered, and not that it could not be reached. ClickHouse gives its errors a type. */
const isAnswer = (error: unknown): boolean =>
  error instanceof Undecodable ||
  error instanceof NewerSchema ||
  (typeof error === 'object' && error !== null && 'type' in error)
