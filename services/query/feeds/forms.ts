import type { FastifyReply, FastifyRequest } from 'fastify'
import { type ShownEvent, toShown } from '#feeds/event-json.js'
import type { FeedEvent } from '#feeds/read-log.js'
import { requestError } from '#http/request-error.js'
import { toAvroContainer } from '#platform/avro-container.js'
import { headerLength, type Registry } from '#platform/registry.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import { acceptedTopic, subjectOf } from '#schemas/derive/names.js'
import type { AcceptedEvent } from '#schemas/events.js'
import { writeJson } from '#schemas/json-text.js'
import type { RecordType } from '#schemas/record.js'

/** In which form a page is answered. */
export type FeedForm = 'json' | 'ndjson' | 'avro' | 'stream'

/** The first of those that are taken here which the client names; JSON where it names none. */
export const formOf = ({ headers }: FastifyRequest): FeedForm => {
  const accepted = (headers.accept ?? '').toLowerCase()
  const named = forms.flatMap(([type, form]) => (accepted.includes(type) ? [{ form, at: accepted.indexOf(type) }] : []))
  return named.sort((a, b) => a.at - b.at)[0]?.form ?? 'json'
}

const forms: [string, FeedForm][] = [
  ['application/json', 'json'],
  ['application/x-ndjson', 'ndjson'],
  ['application/avro', 'avro'],
  ['text/event-stream', 'stream'],
]

/** A page in a form; `reply` is told what it is. */
export type WritePage = (
  reply: FastifyReply,
  form: Exclude<FeedForm, 'stream'>,
  types: readonly RecordType[],
  page: { events: readonly FeedEvent[]; next: string },
) => Promise<{ events: ShownEvent[]; next: string } | FastifyReply | { error: ReturnType<typeof requestError> }>

export const createWritePage = ({ encoder }: Pick<Registry, 'encoder'>): WritePage => {
  const avroOf = async (type: RecordType, events: readonly AcceptedEvent[]): Promise<Buffer> => {
    const schema = acceptedSchema(type)
    const encode = await encoder<AcceptedEvent>(subjectOf(acceptedTopic(type.type)), schema)
    return toAvroContainer(JSON.stringify(schema), events.map(encode), headerLength)
  }

  return async (reply, form, types, { events, next }) => {
    reply.headers({ 'weir-next-cursor': next, vary: 'accept' })
    if (form === 'json') return { events: events.map(toShown), next }
    if (form === 'ndjson') {
      const lines = [...events.map(toShown), { next }].map((line) => `${writeJson(line)}\n`)
      return reply.type('application/x-ndjson; charset=utf-8').serializer(String).send(lines.join(''))
    }
    const [type, ...others] = types
    if (!type || others.length > 0) return { error: oneTypeOnly }
    const container = await avroOf(
      type,
      events.map(({ event }) => event),
    )
    return reply
      .type('application/avro')
      .serializer((bytes: unknown) => bytes as string)
      .send(container)
  }
}

const oneTypeOnly = requestError(
  400,
  'an Avro container holds events of one type: ask for each type by itself, as in GET /v1/feeds/shops; or for application/x-ndjson',
)
