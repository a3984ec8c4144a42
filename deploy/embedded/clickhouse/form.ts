import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { readBody } from './body.js'
import { refusal } from './errors.js'

/**
 * Clients put long parameters into a form instead of the address (@clickhouse/client does so by itself).
 * Its fields count as parameters of the address, and nothing of the body is left.
 */
export const readForm = async (asked: IncomingMessage, parameters: URLSearchParams): Promise<Readable> => {
  const type = asked.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\b/i.test(type)) return asked
  const { text } = await readBody('', asked)
  const bytes = Buffer.from(await text(), 'latin1')
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => {
    throw refusal(36, 'BAD_ARGUMENTS', 'The form in the body cannot be read')
  })
  for (const [name, value] of form) {
    if (typeof value !== 'string')
      throw refusal(48, 'NOT_IMPLEMENTED', 'External data (a file in a form) is not supported here')
    parameters.set(name, value)
  }
  return Readable.from([])
}
