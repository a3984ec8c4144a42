import { Agent } from 'node:https'
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import avro from 'avsc'
import { AccessRefused, type RegistryAccess } from './process/access.js'
import { type TlsWords, tlsProblem } from './process/tls-problem.js'
import { within } from './process/within.js'
import { type Asked, request } from './request.js'
import { uncoveredBy } from './schema-fields.js'

/** Confluent's wire format: a zero byte, the schema's id, the Avro body. */
export const headerLength = 5

const lookUpWithin = 20_000

/** A message that will never be readable, however often it is tried: not in our format, or its schema is gone. */
export class Undecodable extends Error {}

/** A message of a newer version of the reader's schema, with values that only an upgraded process can read. */
export class NewerSchema extends Error {}

/** A rule of the registry for the schemas of one subject. */
export type Compatibility = keyof typeof COMPATIBILITY

export type Registry = ReturnType<typeof createRegistry>

export const createRegistry = (url: string, access: Omit<RegistryAccess, 'url'> = {}) => {
  const base = url.replace(/\/$/, '')
  const { ask, getJson, findJson } = createAsk(base, access)
  const client = new SchemaRegistry({
    host: base,
    retry: { retries: 5, maxRetryTimeInSecs: 5 },
    ...(access.ca && { agent: new Agent({ ca: access.ca }) }),
    ...(access.authorization && { middlewares: [authorize(access.authorization)] }),
  })
  const subjects = (): Promise<string[]> => getJson(`${base}/subjects`)
  /** The client does not say why it was not let in; our own question does. */
  const explained = async <T>(asked: Promise<T>): Promise<T> =>
    asked.catch(async (error: unknown) => {
      await subjects()
      throw error
    })
  const written = new Map<number, Promise<string>>()
  const ids = new Map<string, Promise<number>>()
  const encoders = new Map<string, Promise<unknown>>()

  const addressOf = (subject: string): string => `${base}/subjects/${encodeURIComponent(subject)}`

  /** The schema that a message was written with, as JSON text. */
  const writerSchema = (id: number): Promise<string> =>
    askOnce(written, id, async () => {
      // Not through the client: it keeps only the compiled schema, which has lost its logical types.
      const found = await findJson<{ schema: string }>(`${base}/schemas/ids/${id}`)
      if (!found) throw new Undecodable(`the schema registry knows no schema ${id}`)
      return found.schema
    })

  const idOf = (subject: string, schema: string): Promise<number> =>
    askOnce(ids, subject + schema, () => findId(subject, schema))
  const findId = async (subject: string, schema: string): Promise<number> => {
    const asked = client.getRegistryIdBySchema(subject, { type: SchemaType.AVRO, schema })
    // The client has no bound of its own for a registry that hangs.
    const id = await within(lookUpWithin, explained(asked))
    written.set(id, Promise.resolve(schema))
    return id
  }

  // The client gives a rule only to a subject that has none, and throws where a subject has another one.
  const setCompatibility = async (subject: string, compatibility: Compatibility): Promise<void> => {
    const address = `${base}/config/${encodeURIComponent(subject)}`
    const found = await ask(address)
    if (found.status === 404) return
    const { compatibilityLevel } = await readJson<{ compatibilityLevel: string }>(address, found)
    if (compatibilityLevel === compatibility) return
    await readJson(address, await ask(address, sending('PUT', { compatibility })))
  }

  /** Registers a schema, and has the registry hold the subject to this rule: it refuses a schema that breaks the rule. */
  const register = async (subject: string, schema: unknown, compatibility: Compatibility): Promise<number> => {
    await setCompatibility(subject, compatibility)
    const { id } = await explained(
      client.register(
        { type: SchemaType.AVRO, schema: JSON.stringify(schema) },
        { subject, compatibility: COMPATIBILITY[compatibility] },
      ),
    )
    return id
  }

  return {
    register,
    writerSchema,
    /** An encoder for a schema that was registered. */
    encoder: <T>(subject: string, schema: unknown) => {
      const text = JSON.stringify(schema)
      // Integrity opens one for each of its fifteen types, and most of them are for the same two topics.
      return askOnce(encoders, subject + text, async () => {
        const id = await idOf(subject, text)
        return createEncode<T>(avro.Type.forSchema(schema as avro.Schema), id)
      }) as Promise<(value: T) => Buffer>
    },
    /** Leaves out fields that `schema` does not have; of a `whole` event, one that has more fails as NewerSchema. */
    decoder: <T>(schema: unknown, { whole = false }: { whole?: boolean } = {}) => {
      const reader = avro.Type.forSchema(schema as avro.Schema)
      // One resolver for each writer schema: building it anew for each message is 170 times slower.
      const read = new Map<number, (body: Buffer) => T>()
      const readerFor = async (id: number) => {
        const text = await writerSchema(id)
        const written = orUndecodable(() => JSON.parse(text))
        const writer = orUndecodable(() => avro.Type.forSchema(written))
        // Once for each writer's schema. A schema of another name is not a version of this one, but a stranger's.
        if (whole && writer.name === reader.name) refuseNewer(uncoveredBy(schema, written))
        const resolver = orUndecodable(() => reader.createResolver(writer))
        const decode = (body: Buffer): T => orUndecodable(() => reader.fromBuffer(body, resolver) as T)
        read.set(id, decode)
        return decode
      }
      return async (message: Buffer | null): Promise<T> => {
        const bytes = valueIn(message)
        const id = schemaIdOf(bytes)
        return (read.get(id) ?? (await readerFor(id)))(bodyOf(bytes))
      }
    },
    /** The newest schema of a subject, as JSON text; undefined where the subject has none. */
    findLatest: async (subject: string): Promise<string | undefined> =>
      (await findJson<{ schema: string }>(`${addressOf(subject)}/versions/latest`))?.schema,
    /** Whether the subject has this schema, as its newest or as an earlier one. */
    isRegistered: async (subject: string, schema: unknown): Promise<boolean> =>
      (await findJson(addressOf(subject), sending('POST', { schema: JSON.stringify(schema) }))) !== undefined,
    /** The rule that a subject has of its own; undefined where it has none. */
    findCompatibility: async (subject: string): Promise<Compatibility | undefined> => {
      const found = await ask(`${base}/config/${encodeURIComponent(subject)}`)
      if (found.status === 404) return undefined
      return (await readJson<{ compatibilityLevel: Compatibility }>(base, found)).compatibilityLevel
    },
    /** Looks up a registered schema, so that its events can be read later without the registry; resolves to its id. */
    prepare: (subject: string, schema: unknown): Promise<number> => idOf(subject, JSON.stringify(schema)),
    subjects,
    ping: async (): Promise<void> => void (await subjects()),
  }
}

/** What was asked for before; asked again only where that failed. */
const askOnce = <Key, T>(known: Map<Key, Promise<T>>, key: Key, ask: () => Promise<T>): Promise<T> => {
  const before = known.get(key)
  if (before) return before
  const asked = ask()
  known.set(key, asked)
  asked.catch(() => known.delete(key))
  return asked
}

const refuseNewer = (uncovered: readonly string[]): void => {
  if (uncovered.length === 0) return
  throw new NewerSchema(`written with a newer schema, in which ${uncovered.join(', ')} is new or different`)
}

/** Encodes into one buffer that is kept, and copies the result out: one allocation a message. */
const createEncode = <T>(type: avro.Type, id: number): ((value: T) => Buffer) => {
  let draft = Buffer.alloc(64 * 1024)
  draft.writeInt32BE(id, 1)
  return (value) => {
    const end = type.encode(value, draft, headerLength)
    if (end >= 0) return Buffer.from(draft.subarray(0, end))
    // The buffer was too small: encode() answers with a negative number, how many bytes were missing.
    draft = Buffer.alloc(2 * (draft.length - end))
    draft.writeInt32BE(id, 1)
    return Buffer.from(draft.subarray(0, type.encode(value, draft, headerLength)))
  }
}

/** Requests to the registry; throws, in one line, where it does not let this service in. */
const createAsk = (base: string, { ca, authorization }: Omit<RegistryAccess, 'url'>) => {
  const words = wordsFor(base)
  const ask = async (address: string, { headers, ...asked }: Asked = {}): Promise<Response> => {
    const all = { accept: 'application/json', ...headers, ...(authorization && { authorization }) }
    const answer = await request(address, { ...asked, headers: all, ...(ca && { ca }) }).catch((error: unknown) => {
      const problem = tlsProblem(error, words)
      throw problem ? new AccessRefused(problem) : error
    })
    if (answer.status === 401 || answer.status === 403)
      throw new AccessRefused(`the schema registry refuses the login (${answer.status}): ${check}`)
    return answer
  }
  const getJson = async <T>(address: string): Promise<T> => readJson<T>(address, await ask(address))
  const findJson = async <T>(address: string, asked?: Asked): Promise<T | undefined> =>
    readFound<T>(address, await ask(address, asked))
  return { ask, getJson, findJson }
}

const wordsFor = (url: string): TlsWords => ({
  part: 'the schema registry',
  ca: 'SCHEMA_REGISTRY_CA_FILE',
  on: url.startsWith('https:') ? undefined : 'write https:// in SCHEMA_REGISTRY_URL',
  off: 'write http:// in SCHEMA_REGISTRY_URL, or name its port for TLS there',
})

const check = 'check SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD, or SCHEMA_REGISTRY_TOKEN'

type Middleware = NonNullable<ConstructorParameters<typeof SchemaRegistry>[0]['middlewares']>[number]

const authorize =
  (authorization: string): Middleware =>
  () => ({
    prepareRequest: async (next) => (await next()).enhance({ headers: { authorization } }),
  })
const sending = (method: 'POST' | 'PUT', body: unknown): Asked => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const readJson = async <T>(address: string, answer: Response): Promise<T> => {
  if (answer.ok) return (await answer.json()) as T
  throw new Error(`the schema registry answers ${answer.status} to ${new URL(address).pathname}`)
}

// A registry's own words for "there is no such subject, version or schema". A proxy in front of it, or a registry under another
// path, answers 404 as well, and that says nothing about the schema.
const notFoundCodes = [40401, 40402, 40403]

/** What the registry answers; undefined only where the registry itself says that there is no such thing. */
const readFound = async <T>(address: string, answer: Response): Promise<T | undefined> => {
  if (answer.status !== 404) return readJson<T>(address, answer)
  const body = (await answer.json().catch(() => null)) as { error_code?: number } | null
  if (notFoundCodes.includes(body?.error_code ?? 0)) return undefined
  throw new Error(
    `${address} answers 404, but not as a schema registry does: see that SCHEMA_REGISTRY_URL leads to the registry`,
  )
}

const orUndecodable = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw new Undecodable((error as Error).message.slice(0, 300), { cause: error })
  }
}

/** A message without a value cannot be decoded. Where it says that a record is gone, readers look at that first. */
export const valueIn = (message: Buffer | null): Buffer => {
  if (message === null) throw new Undecodable('it has no value')
  return message
}

export const schemaIdOf = (message: Buffer): number => {
  if (message.length < headerLength || message[0] !== 0)
    throw new Undecodable('not in the wire format of the schema registry')
  return message.readInt32BE(1)
}

/** What every message of a schema begins with. */
export const headerOf = (schemaId: number): Buffer => {
  const header = Buffer.alloc(headerLength)
  header.writeInt32BE(schemaId, 1)
  return header
}

export const bodyOf = (message: Buffer): Buffer => message.subarray(headerLength)
