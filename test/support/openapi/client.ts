import { Agent, request as httpRequest } from 'node:http'
import type { FuzzedAnswer } from './answers.js'
import type { FuzzedRequest } from './requests.js'

/** Sends what fetch would refuse or tidy up: any method, the address as it is written. */
export const createRawClient = (edgeUrl: string, sockets: number) => {
  const { hostname, port } = new URL(edgeUrl)
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })

  const send = ({ method, url, headers, body }: FuzzedRequest): Promise<FuzzedAnswer> =>
    new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(body.length) }
      const sent = httpRequest({ agent, hostname, port, method, path: url, headers: { ...headers, ...length } })
      sent.on('error', reject)
      sent.on('response', (answer) => {
        const chunks: Buffer[] = []
        answer.on('data', (chunk: Buffer) => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            contentType: answer.headers['content-type'] ?? '',
            retryAfter: answer.headers['retry-after'],
            text: Buffer.concat(chunks).toString(),
          }),
        )
      })
      sent.end(body)
    })

  return { send, close: () => agent.destroy() }
}
