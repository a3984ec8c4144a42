import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

/** Every name begins with weir_<service>_, so that the figures of several services can stand on one page. */
export const createMetrics = (service: string) => {
  const registry = new Registry()
  const prefix = `weir_${service}_`
  const registers = [registry]
  collectDefaultMetrics({ register: registry, prefix })
  return {
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new Counter({ name: prefix + name, help, labelNames, registers }),
    gauge: (name: string, help: string, labelNames: string[] = []) =>
      new Gauge({ name: prefix + name, help, labelNames, registers }),
    histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new Histogram({ name: prefix + name, help, buckets, labelNames, registers }),
    text: () => registry.metrics(),
  }
}

export const metricsType = Registry.PROMETHEUS_CONTENT_TYPE
/** Seconds, from a warm cache hit to a verdict's time-out. */
export const latencyBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
