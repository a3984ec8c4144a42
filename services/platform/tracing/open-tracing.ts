import type { Log } from '../health/log.js'
import { type ConfigSchema, string, type ValuesOf } from '../process/config.js'
import { noTracing, type Tracing } from './tracing.js'

export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: string(
    {},
    'where traces are sent to (OTLP over HTTP, such as http://127.0.0.1:4318); without it there are none. See [tracing.md](tracing.md)',
  ),
  OTEL_TRACES_SAMPLER: string(
    {
      enum: [
        'parentbased_always_on',
        'parentbased_always_off',
        'parentbased_traceidratio',
        'always_on',
        'always_off',
        'traceidratio',
      ],
      default: 'parentbased_always_on',
    },
    'which requests are traced. Those with `parentbased_` do as the request says that its caller does, and decide only where it says nothing',
  ),
  OTEL_TRACES_SAMPLER_ARG: string({ default: '1' }, 'for `traceidratio`: the share of requests, such as 0.01'),
} as const satisfies ConfigSchema['properties']

/** Without an address nothing is loaded: the packages take 0.1 s, and may be left out of an installation. */
export const openTracing = async (
  config: ValuesOf<typeof tracingVariables>,
  service: { name: string; log: Log },
): Promise<Tracing> => {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = config
  if (endpoint === undefined) return noTracing
  const share = Number(config.OTEL_TRACES_SAMPLER_ARG)
  if (!URL.canParse(endpoint)) throw new Error('OTEL_EXPORTER_OTLP_ENDPOINT is not an address')
  if (!(share >= 0 && share <= 1)) throw new Error('OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1')
  const { openOpenTelemetry } = await import('./open-telemetry.js').catch((cause: { code?: string }) => {
    if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new Error(
      'OTEL_EXPORTER_OTLP_ENDPOINT is set, and the packages of OpenTelemetry are not installed: install with optional packages',
      { cause },
    )
  })
  return openOpenTelemetry({ endpoint, sampler: config.OTEL_TRACES_SAMPLER, share, ...service })
}
