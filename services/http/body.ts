import type { FastifyRequest } from 'fastify'
import { type RequestError, requestError } from './request-error.js'

/** A body as JSON, with the SHA-256 of its text; or why there is none. */
export type JsonBody = { json?: unknown; sha256: Buffer } | { error: RequestError }

/** What the app's parser made of the body. Without a body, Fastify does not call the parser. */
export const bodyOf = <Read extends JsonBody = JsonBody>(request: FastifyRequest): Read | { error: RequestError } =>
  (request.body as Read | undefined) ?? empty

const empty = { error: requestError(400, 'the body is empty') }
