import { answered, endpoint } from './endpoint.js'
import { errorAnswer } from './errors.js'
import * as v from './values.js'

// For operators and their machines; no key needed.

type Parts = Readonly<Record<string, { readonly ok: boolean; readonly problem?: string | undefined }>>
const parts: v.Schema<Parts> = {
  type: 'object',
  additionalProperties: v.object({ ok: v.flag(), problem: v.optional(v.text()) }),
}
/** What each part says is left out where operators have a port of their own. */
const readiness = v.named('Readiness', { status: v.oneOf(['ready', 'not_ready']), parts: v.optional(parts) })

/** Which Weir it is, is left out where operators have a port of their own: strangers need not know. */
const health = v.named('Health', {
  status: v.oneOf(['ok']),
  version: v.optional(v.text('of Weir, like 0.1.0')),
  commit: v.optional(v.text('that it was built from, or unknown')),
})

export const readHealth = endpoint('GET', '/healthz', 'read-health', 'health', {
  summary: 'Whether the process runs',
  isOpen: true,
  answers: answered('It runs.', health),
})

export const readReadiness = endpoint('GET', '/readyz', 'read-readiness', 'health', {
  summary: 'Whether every part works',
  isOpen: true,
  query: {
    for: v.optional(
      v.oneOf(['uploads'], { description: 'only the parts that uploads need', refusal: 'for must be uploads' }),
    ),
  },
  answers: {
    200: { about: 'All parts work.', schema: readiness },
    503: { about: 'Some part does not.', schema: readiness },
  },
})

export const readMetrics = endpoint('GET', '/metrics', 'read-metrics', 'health', {
  summary: 'Figures for Prometheus',
  isOpen: true,
  answers: {
    200: { about: 'Text.', content: { 'text/plain': { schema: v.text() } } },
    404: errorAnswer(404, 'The figures are on the port for operators.'),
  },
})
