import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import { reasonOf } from '../health/health.js'
import type { Log } from '../health/log.js'
import type { TraceSpan, Tracing } from './tracing.js'

// OpenTelemetry is known here alone, and loaded only where traces are wanted.

/** The spans wait here until they are sent; while nobody takes them, newer ones are dropped. */
const mostWaiting = 2048
const sentEvery = 1_000
const sentWithin = 5_000

export const openOpenTelemetry = (options: {
  endpoint: string
  sampler: string
  /** The share of requests that a sampler by ratio takes. */
  share: number
  name: string
  log: Log
}): Tracing => {
  const url = `${options.endpoint.replace(/\/$/, '')}/v1/traces`
  const exporter = sayOnce(new OTLPTraceExporter({ url, timeoutMillis: sentWithin }), options)
  const processor = new BatchSpanProcessor({
    exporter,
    maxQueueSize: mostWaiting,
    scheduledDelayMillis: sentEvery,
    exportTimeoutMillis: sentWithin,
  })
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': options.name })),
    sampler: samplerOf(options.sampler, options.share),
    spanProcessors: [processor],
  })
  const tracer = provider.getTracer('weir')
  const begin = (name: string, kind: SpanKind, parent: Context, attributes: Attributes = {}): TraceSpan | undefined => {
    const span = tracer.startSpan(name, { kind, attributes }, parent)
    return span.isRecording() ? toTraceSpan(span) : undefined
  }
  return {
    request: (name, traceparent) => begin(name, SpanKind.SERVER, contextOf(traceparent)),
    goOn: (name, kind, traceparent, facts) =>
      begin(name, kind === 'producer' ? SpanKind.PRODUCER : SpanKind.CONSUMER, contextOf(traceparent), known(facts)),
    close: () => provider.shutdown().catch(() => {}),
  }
}

const toTraceSpan = (span: Span): TraceSpan => {
  const { traceId, spanId } = span.spanContext()
  return {
    traceId,
    traceparent: `00-${traceId}-${spanId}-01`,
    end: (facts, failure) => {
      span.setAttributes(known(facts))
      if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: reasonOf(failure) })
      span.end()
    },
  }
}

const known = (facts: Parameters<TraceSpan['end']>[0] = {}): Attributes =>
  Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as Attributes

// Versions after 00 may have more behind it, which is passed over. Ids of zeros are none.
const pattern = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:$|-)/

/** A header that cannot be read counts as none, as the standard has it. */
const contextOf = (traceparent: string | undefined): Context => {
  const [, traceId, spanId, flags] = pattern.exec(traceparent ?? '') ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT
  const traceFlags = Number.parseInt(flags, 16) & 1
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}

const samplerOf = (name: string, share: number): Sampler => {
  const [, parentBased, own] = /^(parentbased_)?(.*)$/.exec(name) ?? []
  const root =
    own === 'always_off'
      ? new AlwaysOffSampler()
      : own === 'traceidratio'
        ? new TraceIdRatioBasedSampler(share)
        : new AlwaysOnSampler()
  return parentBased ? new ParentBasedSampler({ root }) : root
}

/** One line when traces begin to be lost, and one when they arrive again: a service does not fail for want of a collector. */
const sayOnce = (exporter: SpanExporter, { endpoint, log }: { endpoint: string; log: Log }): SpanExporter => {
  let isLost = false
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== 0 && !isLost)
          log.warn({ endpoint, reason: reasonOf(result.error) }, 'traces are lost: nobody takes them')
        if (result.code === 0 && isLost) log.info({ endpoint }, 'traces are taken again')
        isLost = result.code !== 0
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    ...(exporter.forceFlush && { forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve() }),
  }
}
