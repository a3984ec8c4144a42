// Every figure that a service shows on /metrics: found by making all of them, and reading what was made.
import { createMetrics, type Figure, type Metrics } from '#platform/health/metrics.js'
import { createSetAsideCount } from '#platform/kafka/set-aside.js'
import { createDeliveryFigures } from '../../services/delivery/figures.js'
import { createFigures as edge } from '../../services/edge/figures.js'
import { createIntegrityFigures, createPrunedCount as prunedByIntegrity } from '../../services/integrity/figures.js'
import { createMartSeconds, createSinkFigures, createPrunedCount as prunedBySink } from '../../services/sink/figures.js'

export type ServiceFigure = Figure & {
  /** The services that have it; those of the process have all four. */
  services: string[]
}

const makers: Record<string, ((metrics: Metrics) => unknown)[]> = {
  edge: [edge],
  integrity: [createIntegrityFigures, createSetAsideCount, prunedByIntegrity],
  sink: [createSinkFigures, createSetAsideCount, prunedBySink, createMartSeconds],
  delivery: [createDeliveryFigures],
}

/** What one service shows, such as weir_edge_records_total and process_cpu_seconds_total. */
export const figuresOf = (service: string): Figure[] => {
  const metrics = createMetrics(service)
  for (const make of makers[service] ?? []) make(metrics)
  return metrics.declared()
}

export const services = Object.keys(makers)

export const allFigures = (): ServiceFigure[] => {
  const all = new Map<string, ServiceFigure>()
  for (const service of services)
    for (const figure of figuresOf(service)) {
      const known = all.get(figure.name)
      if (known) known.services.push(service)
      else all.set(figure.name, { ...figure, services: [service] })
    }
  return [...all.values()]
}

export const isOwn = ({ name }: Figure): boolean => name.startsWith('weir_')

/** docs/metrics.md */
export const metricsPage = (): string => {
  const all = allFigures()
  const tables = services.map((service) => {
    const rows = all.filter((figure) => isOwn(figure) && figure.services[0] === service)
    return [`## ${service}`, ...tableOf(rows)].join('\n')
  })
  return `${[introduction, ...tables].join('\n\n')}\n`
}

const tableOf = (figures: readonly Figure[]): string[] => [
  '| metric | type | labels | says |',
  '| --- | --- | --- | --- |',
  ...figures.map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ') || '–'} | ${sentence(help)} |`,
  ),
]

const sentence = (help: string): string => {
  const text = help.trim().replace(/\.$/, '').replaceAll('|', '\\|')
  return text.charAt(0).toLowerCase() + text.slice(1)
}

const introduction = `# Metrics

<!-- Made by npm run publish-schemas from the services' figures.ts: change the descriptions there. -->

What \`/metrics\` of each service shows, for Prometheus. How to read it, the dashboards and the alerts:
[observability.md](observability.md). A histogram has \`_bucket\`, \`_sum\` and \`_count\` behind its name. Beside these, every service
shows the figures of its process under their usual names (\`process_…\`, \`nodejs_…\`), with its name as the label \`service\`.`
