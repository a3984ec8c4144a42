import { Agent } from 'node:https'
import { COMPATIBILITY, SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import avro from 'avsc'
import { AccessRefused, type RegistryAccess } from './process/access.js'
import { type TlsWords, tlsProblem } from './process/tls-problem.js'
import { within } from './process/within.js'
import { type Asked, request } from './request.js'

/** Confluent's wire format: a zero byte, the schema's id, the Avro body. */
const headerLength = 5

const lookUpWithin = 20_000

/** A message that will never be readable, however often it is tried: not in our format, or its schema is gone. */
export class Undecodable extends Error {}

/** A rule of the registry for the schemas of one subject. */
export type Compatibility = keyof typeof COMPATIBILITY

export type Registry = {
  /** Registers a schema, and has the registry hold the subject to this rule: it refuses a schema that breaks the rule. */
  register: (subject: string, schema: unknown, compatibility: Compatibility) => Promise<number>
  /** An encoder for a schema that was registered. */
  encoder: <T>(subject: string, schema: unknown) => Promise<(value: T) => Buffer>
  /** A decoder into the form of `schema`, whichever schema the event was written with. */
  decoder: <T>(schema: unknown) => (message: Buffer) => Promise<T>
  /** The schema that a message was written with, as JSON text. */
  writerSchema: (id: number) => Promise<string>
  /** Looks up a registered schema, so that its events can be read later without the registry. */
  prepare: (subject: string, schema: unknown) => Promise<void>
  ping: () => Promise<void>
}

export const createRegistry = (url: string, access: Omit<RegistryAccess, 'url'> = {}): Registry => {
  const base = url.replace(/\/$/, '')
  const { ask, getJson } = createAsk(base, access)
  const client = new SchemaRegistry({
    host: base,
    retry: { retries: 5, maxRetryTimeInSecs: 5 },
    ...(access.ca && { agent: new Agent({ ca: access.ca }) }),
    ...(access.authorization && { middlewares: [authorize(access.authorization)] }),
  })
  const ping = (): Promise<unknown> => getJson(`${base}/subjects`)
  /** The client does not say why it was not let in; our own question does. */
  const explained = async <T>(asked: Promise<T>): Promise<T> =>
    asked.catch(async (error: unknown) => {
      await ping()
      throw error
    })
  const written = new Map<number, Promise<string>>()
  const encoders = new Map<string, Promise<unknown>>()

  const writerSchema = (id: number): Promise<string> => {
    const known = written.get(id)
    if (known) return known
    // Not through the client: it keeps only the compiled schema, which has lost its logical types.
    const asked = getJson<{ schema: string }>(`${base}/schemas/ids/${id}`).then(({ schema }) => schema)
    written.set(id, asked)
    asked.catch(() => written.delete(id))
    return asked
  }

  const idOf = async (subject: string, schema: string): Promise<number> => {
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
    const headers = { 'content-type': 'application/json' }
    await readJson(address, await ask(address, { method: 'PUT', headers, body: JSON.stringify({ compatibility }) }))
  }

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
    encoder: <T>(subject: string, schema: unknown) => {
      const text = JSON.stringify(schema)
      // Integrity opens one for each of its fifteen types, and most of them are for the same two topics.
      const known = encoders.get(subject + text)
      if (known) return known as Promise<(value: T) => Buffer>
      const asked = idOf(subject, text).then((id) => createEncode<T>(avro.Type.forSchema(schema as avro.Schema), id))
      encoders.set(subject + text, asked)
      asked.catch(() => encoders.delete(subject + text))
      return asked
    },
    decoder: <T>(schema: unknown) => {
      const reader = avro.Type.forSchema(schema as avro.Schema)
      // One resolver for each writer schema: building it anew for each message is 170 times slower.
      const read = new Map<number, (body: Buffer) => T>()
      const readerFor = async (id: number) => {
        const writer = avro.Type.forSchema(JSON.parse(await writerSchema(id)))
        const resolver = orUndecodable(() => reader.createResolver(writer))
        const decode = (body: Buffer): T => orUndecodable(() => reader.fromBuffer(body, resolver) as T)
        read.set(id, decode)
        return decode
      }
      return async (message) => {
        const id = schemaIdOf(message)
        return (read.get(id) ?? (await readerFor(id)))(bodyOf(message))
      }
    },
    prepare: async (subject, schema) => {
      await idOf(subject, JSON.stringify(schema))
    },
    ping: async () => void (await ping()),
  }
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
  return { ask, getJson }
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

const readJson = async <T>(address: string, answer: Response): Promise<T> => {
  const problem = `the schema registry answers ${answer.status} to ${new URL(address).pathname}`
  if (!answer.ok) throw answer.status === 404 ? new Undecodable(problem) : new Error(problem)
  return (await answer.json()) as T
}

const orUndecodable = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    throw new Undecodable((error as Error).message.slice(0, 300), { cause: error })
  }
}

export const schemaIdOf = (message: Buffer): number => {
  if (message.length < headerLength || message[0] !== 0)
    throw new Undecodable('not in the wire format of the schema registry')
  return message.readInt32BE(1)
}

export const bodyOf = (message: Buffer): Buffer => message.subarray(headerLength)
