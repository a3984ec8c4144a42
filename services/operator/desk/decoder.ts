import { setImmediate as breathe } from 'node:timers/promises'
import { type Registry, Undecodable } from '#platform/registry.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import type { RecordType } from '#schemas/record.js'
import { patiently } from './until.js'

/** Undefined: nobody can read it. */
export type Decode<T> = (message: Buffer) => Promise<T | undefined>

const messagesInOneBreath = 500

export const createDecoder = <T>(registry: Registry, schema: unknown): Decode<T> => {
  const decode = registry.decoder<T>(schema)
  let decoded = 0
  return async (message) => {
    // Without a pause, a full fetch would hold the event loop for seconds, and with it heartbeats and the registry's answer.
    if (++decoded % messagesInOneBreath === 0) await breathe()
    try {
      return await patiently(() => decode(message))
    } catch (error) {
      if (error instanceof Undecodable) return undefined
      throw error
    }
  }
}

/** Decodes only these fields of an event and skips the rest, which may be long. */
export const createHeadDecoder = <Head>(
  registry: Registry,
  schema: unknown,
  names: readonly (string & keyof Head)[],
): Decode<Head> => {
  const { fields, ...rest } = schema as { fields: { name: string }[] }
  return createDecoder<Head>(registry, { ...rest, fields: fields.filter(({ name }) => names.includes(name as never)) })
}

/** What is read of an accepted event. */
export type AcceptedHead = { batch_id: string; version: number }

export const createAcceptedDecoder = (registry: Registry, type: RecordType): Decode<AcceptedHead> =>
  createHeadDecoder(registry, acceptedSchema(type), ['batch_id', 'version'])
