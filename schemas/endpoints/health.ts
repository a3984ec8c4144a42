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

export const readHealth = endpoint('GET', '/healthz', 'read-health', 'health', {
  summary: 'Whether the process runs',
  isOpen: true,
  answers: answered('It runs.', v.object({ status: v.oneOf(['ok']) })),
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
