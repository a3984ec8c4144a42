/** A piece of work within a trace that is recorded. Of traces that are not, nothing is made. */
export type TraceSpan = {
  /** What others have to be given to go on with the trace: the value of the header `traceparent` (W3C). */
  traceparent: string
  traceId: string
  end: (facts?: Facts, failure?: unknown) => void
}

/** By the names of OpenTelemetry's conventions where there is one. */
export type Facts = Readonly<Record<string, string | number | undefined>>

export type Tracing = {
  /** A request from outside: recorded where the caller's trace is, or where the sampler chooses it. */
  request: (name: string, traceparent: string | undefined) => TraceSpan | undefined
  /** Work on something that belongs to a trace; one that is recorded, since of others nothing is handed on. */
  goOn: (name: string, kind: 'producer' | 'consumer', traceparent: string, facts?: Facts) => TraceSpan | undefined
  /** Sends what has not been sent yet. */
  close: () => Promise<void>
}

export const noTracing: Tracing = { request: () => undefined, goOn: () => undefined, close: async () => {} }

/**
 * A span for each trace that some of these messages belong to. Returns what ends them; it does nothing where there are none,
 * which is nearly always so.
 */
export const traceMessages = (
  tracing: Tracing,
  name: string,
  messages: readonly { traceparent?: string }[],
  facts?: Facts,
): ((failure?: unknown) => void) => {
  if (tracing === noTracing) return ended
  const spans = new Map<string, TraceSpan | undefined>()
  for (const { traceparent } of messages) {
    if (traceparent === undefined || spans.has(traceparent)) continue
    spans.set(traceparent, tracing.goOn(name, 'consumer', traceparent, facts))
  }
  if (spans.size === 0) return ended
  return (failure) => {
    for (const span of spans.values()) span?.end(undefined, failure)
  }
}

const ended = (): void => {}
