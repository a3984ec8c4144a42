import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

/** A figure as it is declared: dashboards, alerts and docs/metrics.md are held against these. */
export type Figure = { name: string; type: 'counter' | 'gauge' | 'histogram'; help: string; labels: readonly string[] }

/**
 * A service's own figures begin with weir_<service>_. Those of its process have the names that every dashboard knows, such as
 * process_cpu_seconds_total, and the service as a label: the figures of several services can stand on one page.
 */
export const createMetrics = (service: string) => {
  const registry = new Registry()
  const prefix = `weir_${service}_`
  const registers = [registry]
  // By default the event loop is woken a hundred times a second to be measured.
  collectDefaultMetrics({ register: registry, labels: { service }, eventLoopMonitoringPrecision: 100 })
  // They count what is there now, under a name that says they only grow; the same is in nodejs_active_handles and so on, by kind.
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`)
  return {
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new Counter({ name: prefix + name, help, labelNames, registers }),
    /** `read` sets the gauge whenever somebody looks at it. */
    gauge: (name: string, help: string, labelNames: string[] = [], read?: (gauge: Gauge) => void) =>
      new Gauge({
        ...{ name: prefix + name, help, labelNames, registers },
        ...(read && {
          collect() {
            read(this)
          },
        }),
      }),
    histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new Histogram({ name: prefix + name, help, buckets, labelNames, registers }),
    text: () => registry.metrics(),
    /** All figures that were made so far, whether or not they have counted anything. */
    declared: (): Figure[] => (registry.getMetricsAsArray() as unknown as Declared[]).map(toFigure),
  }
}

// As prom-client keeps them; its own type leaves out the labels.
type Declared = Omit<Figure, 'labels'> & { labelNames: readonly string[] }
const toFigure = ({ name, type, help, labelNames }: Declared): Figure => ({ name, type, help, labels: labelNames })

/** Several pages of figures as one: Prometheus takes the figures of one name only where they stand together. */
export const joinMetrics = (pages: readonly string[]): string => {
  const families = new Map<string, string[]>()
  for (const page of pages) {
    let family: string[] = []
    for (const line of page.split('\n')) {
      const [, name] = /^# HELP (\S+)/.exec(line) ?? []
      if (name !== undefined) {
        family = families.get(name) ?? []
        families.set(name, family)
      }
      const isSaidBefore = line.startsWith('# ') && family.includes(line)
      if (line !== '' && !isSaidBefore) family.push(line)
    }
  }
  return [...families.values()].map((lines) => `${lines.join('\n')}\n`).join('\n')
}

/** A page of figures as strangers may see it: without the organisations' names. */
export const withoutOrganisations = (page: string): string =>
  page
    .split('\n')
    .filter((line) => !/^[^#].*[{,]org="/.test(line))
    .join('\n')

export const metricsType = Registry.PROMETHEUS_CONTENT_TYPE
/** Seconds, from a warm cache hit to a verdict's time-out. */
export const latencyBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
/** Seconds until something can be seen: from at once to an hour behind. */
export const freshnessBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600]
/** Messages that one fetch brings. */
export const fetchBuckets = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 20_000]
