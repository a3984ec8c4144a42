import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export type Received = { id: string; headers: IncomingHttpHeaders; text: string; body: WebhookBody }
export type WebhookBody = { type: string; timestamp: string; data: Record<string, unknown> }
/** What a receiver answers: a status, or nothing for as long as it is asked. */
export type Answering = number | 'nothing'

/** A program of somebody's that webhooks are sent to. It remembers all that came, also what it did not take. */
export const startReceiver = async (answering: (received: Received, before: number) => Answering = () => 200) => {
  const received: Received[] = []
  let answer = answering
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const one = { id: String(request.headers['webhook-id']), headers: request.headers, text, body: JSON.parse(text) }
    const before = received.filter(({ id }) => id === one.id).length
    received.push(one)
    const status = answer(one, before)
    if (status !== 'nothing') response.writeHead(status).end('noted')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    /** Those of one event, each once. */
    taken: (type: string): WebhookBody[] => [
      ...new Map(received.filter(({ body }) => body.type === type).map(({ id, body }) => [id, body])).values(),
    ],
    answer: (next: typeof answering) => {
      answer = next
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
