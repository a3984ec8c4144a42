import { pino } from 'pino'
import { expect, it, onTestFinished } from 'vitest'
import { readConfig } from '#platform/process/config.js'
import { openTracing, tracingVariables } from '#platform/tracing/open-tracing.js'
import { noTracing, traceMessages } from '#platform/tracing/tracing.js'
import { startCollector } from '../../../support/trace-collector.js'
import { createEdge } from '../../edge/edge.js'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const parent = `00-${traceId}-b7ad6b7169203331-01`
const notRecorded = parent.replace(/01$/, '00')

const open = async (env: Record<string, string>) => {
  const lines: { msg: string }[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  const config = readConfig({ type: 'object', properties: tracingVariables }, env)
  const tracing = await openTracing(config, { name: 'weir-test', log })
  onTestFinished(tracing.close)
  return { tracing, lines }
}
const openWithCollector = async (env: Record<string, string> = {}) => {
  const collector = await startCollector()
  onTestFinished(collector.stop)
  return { collector, ...(await open({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env })) }
}

it('is nothing at all without an address', async () => {
  expect((await open({})).tracing).toBe(noTracing)
  expect(noTracing.request('GET /', parent)).toBeUndefined()
  expect(traceMessages(noTracing, 'decide', [{ traceparent: parent }])).toBe(traceMessages(noTracing, 'decide', []))
})

it('goes on with the trace of the caller, and others go on with its own span', async () => {
  const { tracing, collector } = await openWithCollector()
  const request = tracing.request('POST /v1/data/shops', parent)
  expect(request?.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`))
  const messages = [{ traceparent: request?.traceparent ?? '' }, {}, { traceparent: request?.traceparent ?? '' }]
  traceMessages(tracing, 'decide', messages)(new Error('no'))
  request?.end({ 'http.response.status_code': 200, 'weir.org_id': undefined })
  const spans = await collector.ofTrace(traceId, 2)
  const [server, consumer] = [2, 5].map((kind) => spans.find((span) => span.kind === kind))
  expect(spans).toHaveLength(2)
  expect(server).toMatchObject({
    service: 'weir-test',
    parentSpanId: 'b7ad6b7169203331',
    attributes: { 'http.response.status_code': 200 },
  })
  expect(consumer).toMatchObject({ name: 'decide', parentSpanId: server?.spanId, status: { code: 2, message: 'no' } })
})

it('records what the sampler says, and what the caller says only where the sampler listens to it', async () => {
  const recorded = async (sampler: string, traceparent?: string, share = '1') => {
    const env = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share }
    return (await openWithCollector(env)).tracing.request('GET /', traceparent) !== undefined
  }
  expect(await recorded('parentbased_always_on', notRecorded)).toBe(false)
  expect(await recorded('parentbased_always_on', 'what is this')).toBe(true)
  expect(await recorded('parentbased_traceidratio', undefined, '0')).toBe(false)
  expect(await recorded('parentbased_traceidratio', parent, '0')).toBe(true)
  expect(await recorded('traceidratio', parent, '0')).toBe(false)
  await expect(open({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost', OTEL_TRACES_SAMPLER_ARG: 'x' })).rejects.toThrow(
    'from 0 to 1',
  )
})

it('says once that nobody takes the traces, and goes on; and that somebody does again', async () => {
  const first = await startCollector()
  const { tracing, lines } = await open({ OTEL_EXPORTER_OTLP_ENDPOINT: first.url })
  await first.stop()
  const until = async (count: number) => {
    while (lines.length < count) {
      tracing.request('GET /', undefined)?.end()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  // Far more than are kept.
  for (let n = 0; n < 10_000; n++) tracing.request('GET /', undefined)?.end()
  await until(1)
  const again = await startCollector(Number(new URL(first.url).port))
  onTestFinished(again.stop)
  await until(2)
  expect(lines.map(({ msg }) => msg)).toEqual(['traces are lost: nobody takes them', 'traces are taken again'])
})

it('gives a request its span, its log line the id, and its batches the trace', async () => {
  const { tracing, collector } = await openWithCollector()
  const given: (string | undefined)[] = []
  const { submit } = createEdge()
  const traced = createEdge({
    tracing,
    submit: (type, batches, options) => {
      given.push(options?.traceparent)
      return submit(type, batches, options)
    },
  })
  const shop = { shop_id: '0198c7a0-0000-7000-8000-000000000001', name: 'a', region: 'DE' }
  await traced.send('POST', '/v1/data/shops', { records: [shop] }, { traceparent: parent })
  await traced.send('POST', '/v1/data/shops', { records: [shop] }, { traceparent: notRecorded })
  const [span] = await collector.ofTrace(traceId, 1)
  expect(span).toMatchObject({ name: 'POST /v1/data/shops', attributes: { 'weir.org_id': 'acme', 'weir.records': 1 } })
  expect(given).toEqual([`00-${traceId}-${span?.spanId}-01`, undefined])
  expect(traced.lines.map(({ trace_id }) => trace_id)).toEqual([traceId, undefined])
})
