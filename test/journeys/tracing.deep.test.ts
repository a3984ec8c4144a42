import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { sampleOf } from '../support/sample.js'
import { untilQuiet } from '../support/system/groups.js'
import { type Seen, watchTopics } from '../support/system/topics.js'
import { createUploader, type UploadAnswer, type Uploader } from '../support/system/uploader.js'
import { startWholeSystem, type WholeSystem } from '../support/system/whole-system.js'
import { startCollector } from '../support/trace-collector.js'

// A system of its own, whose traces go to a collector of this test.

const collector = await startCollector()
let system: WholeSystem
let stop: () => Promise<void>
let uploader: Uploader

beforeAll(async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_SAMPLER: 'parentbased_always_off' }
  ;({ system, stop } = await startWholeSystem({ env }))
  uploader = createUploader(system.edgeUrl, system.demoKey)
})
afterAll(async () => {
  await stop?.()
})

const upload = (traceparent: string) =>
  uploader.send<UploadAnswer>(
    'POST',
    '/v1/data/shops',
    JSON.stringify({ records: [sampleOf(shop), sampleOf(shop), { shop_id: 'x' }] }),
    { traceparent },
  )
const newTrace = () => ({ traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') })
const tracesIn = (seen: readonly Seen[], topic: string): string[] =>
  seen.filter((each) => each.topic === topic).map(({ headers }) => JSON.parse(headers).traceparent ?? 'none')

it('follows an upload from the request to the insert, and gives every event the trace', async () => {
  const topics = await watchTopics(system.env.KAFKA_BROKERS)
  const { traceId, spanId } = newTrace()
  expect((await upload(`00-${traceId}-${spanId}-01`)).status).toBe(207)
  // The request, its publishing, the decision, and the inserts of accepted and refused records, which share a fetch or do not.
  const spans = await collector.ofTrace(traceId, 5)
  const named = (name: string) => spans.filter((span) => span.name === name)
  const [request, publishing, decision, insert] = [
    'POST /v1/data/shops',
    'publish weir.submitted.shops',
    'decide weir.submitted.shops',
    'insert weir.accepted.shops',
  ].map((name) => named(name)[0])
  expect(request).toMatchObject({ service: 'weir-edge', parentSpanId: spanId, attributes: { 'weir.records': 3 } })
  expect(publishing).toMatchObject({ service: 'weir-edge', parentSpanId: request?.spanId })
  expect(decision).toMatchObject({ service: 'weir-integrity', parentSpanId: publishing?.spanId })
  expect(insert).toMatchObject({ service: 'weir-sink', parentSpanId: publishing?.spanId })

  const seen = await topics.since()
  const header = `00-${traceId}-${publishing?.spanId}-01`
  expect(tracesIn(seen, 'weir.submitted.shops')).toEqual([header])
  expect(tracesIn(seen, 'weir.accepted.shops')).toEqual([header, header])
  expect(tracesIn(seen, 'weir.rejected')).toEqual([header])
  expect(tracesIn(seen, 'weir.verdicts')).toEqual([header])
})

it('writes no header for a trace that is not recorded', async () => {
  const topics = await watchTopics(system.env.KAFKA_BROKERS)
  const { traceId, spanId } = newTrace()
  expect((await upload(`00-${traceId}-${spanId}-00`)).status).toBe(207)
  await untilQuiet(system.env.KAFKA_BROKERS)
  const seen = await topics.since()
  expect(seen.map(({ headers }) => headers)).toEqual(seen.map(() => '{}'))
  expect(seen.length).toBeGreaterThan(4)
})

it('goes on without a collector, and says so once', async () => {
  await collector.stop()
  const log = () => readFileSync(join(system.dataDir, 'logs', 'edge.log'), 'utf8')
  const isLost = () =>
    log()
      .split('\n')
      .filter((line) => line.includes('traces are lost')).length
  while (isLost() === 0) {
    const { traceId, spanId } = newTrace()
    expect((await upload(`00-${traceId}-${spanId}-01`)).status).toBe(207)
  }
  const { traceId, spanId } = newTrace()
  expect((await upload(`00-${traceId}-${spanId}-01`)).status).toBe(207)
  expect(isLost()).toBe(1)
})
