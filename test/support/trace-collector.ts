import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** A span as OTLP has it in JSON, with the service that it is of. */
export type CollectedSpan = {
  service: string
  name: string
  kind: number
  traceId: string
  spanId: string
  parentSpanId?: string
  attributes: Record<string, unknown>
  status: { code?: number; message?: string }
}

type Attribute = { key: string; value: { stringValue?: string; intValue?: number | string } }
type Sent = {
  resourceSpans: {
    resource: { attributes: Attribute[] }
    scopeSpans: { spans: (Omit<CollectedSpan, 'attributes' | 'service'> & { attributes: Attribute[] })[] }[]
  }[]
}

/** A collector of traces: OTLP over HTTP, in JSON. */
export const startCollector = async (port = 0) => {
  const spans: CollectedSpan[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      const sent: Sent = JSON.parse(Buffer.concat(chunks).toString())
      for (const { resource, scopeSpans } of sent.resourceSpans) {
        const service = String(valuesOf(resource.attributes)['service.name'])
        for (const span of scopeSpans.flatMap((each) => each.spans))
          spans.push({ ...span, service, attributes: valuesOf(span.attributes) })
      }
      response.setHeader('content-type', 'application/json').end('{}')
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    /** The spans of a trace, once there are as many as wanted. */
    ofTrace: async (traceId: string, wanted: number): Promise<CollectedSpan[]> => {
      for (;;) {
        const found = spans.filter((span) => span.traceId === traceId)
        if (found.length >= wanted) return found
        await delay(50)
      }
    },
    stop: async (): Promise<void> => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const valuesOf = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]))
