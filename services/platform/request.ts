import { type RequestOptions, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import type { Trust } from './process/access.js'

export type Asked = Trust & {
  method?: 'GET' | 'POST' | 'PUT'
  headers?: Readonly<Record<string, string>>
  body?: string
}

const answerWithin = 3_000

/** As `fetch`, which knows no way to trust an authority of one's own; it follows no redirects. */
export const request = (address: string, { method = 'GET', headers = {}, body, ca }: Asked = {}): Promise<Response> =>
  new Promise((resolve, reject) => {
    const send = address.startsWith('https:') ? requestSecure : requestPlain
    const options: RequestOptions & Trust = {
      method,
      headers,
      signal: AbortSignal.timeout(answerWithin),
      ...(ca && { ca }),
    }
    send(address, options, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('error', reject)
      answer.on('end', () => {
        const status = answer.statusCode ?? 0
        // These have no body, and the constructor insists on it.
        const text = status === 204 || status === 304 ? null : Buffer.concat(chunks).toString()
        resolve(new Response(text, { status }))
      })
    })
      .on('error', reject)
      .end(body)
  })
