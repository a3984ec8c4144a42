import { endpoint } from './endpoint.js'
import { errorAnswer } from './errors.js'
import { flag, named, object, oneOf, optional, type Schema, text } from './values.js'

// For operators and their machines; no key needed.

type Parts = Readonly<Record<string, { readonly ok: boolean; readonly problem?: string | undefined }>>
const parts: Schema<Parts> = {
  type: 'object',
  additionalProperties: object({ ok: flag(), problem: optional(text()) }),
}
/** What each part says is left out where operators have a port of their own. */
const readiness = named('Readiness', object({ status: oneOf(['ready', 'not_ready']), parts: optional(parts) }))

export const readHealth = endpoint('GET', '/healthz', 'read-health', 'health', {
  summary: 'Whether the process runs',
  isOpen: true,
  answers: { 200: { about: 'It runs.', schema: object({ status: oneOf(['ok']) }) } },
})

export const readReadiness = endpoint('GET', '/readyz', 'read-readiness', 'health', {
  summary: 'Whether every part works',
  isOpen: true,
  query: {
    for: optional(
      oneOf(['uploads'], { description: 'only the parts that uploads need', refusal: 'for must be uploads' }),
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
    200: { about: 'Text.', content: { 'text/plain': { schema: text() } } },
    404: errorAnswer(404, 'The figures are on the port for operators.'),
  },
})
