import { expect, it } from 'vitest'
import { createMetrics, joinMetrics } from '#platform/health/metrics.js'

it('has the figures of several services on one page, those of one name together, each explained once', async () => {
  const services = ['edge', 'integrity'].map((service) => {
    const metrics = createMetrics(service)
    metrics.counter('records_total', 'records').inc(3)
    metrics.histogram('seconds', 'how long', [1, 2]).observe(1.5)
    return metrics
  })
  const page = joinMetrics(await Promise.all(services.map((metrics) => metrics.text())))
  const names = [...page.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(page).toMatch(
    /# TYPE process_cpu_seconds_total counter\nprocess_cpu_seconds_total\{service="edge"\} \S+\nprocess_cpu_seconds_total\{service="integrity"\} \S+\n/,
  )
  expect(page).toContain('weir_edge_records_total 3\n')
  expect(page).toContain('weir_integrity_seconds_bucket{le="2"} 1\n')
  // As `promtool check metrics` has it: what is no counter has no name that ends in _total.
  const kinds = [...page.matchAll(/^# TYPE (\S+) (\S+)/gm)]
  expect(kinds.filter(([, name, kind]) => name?.endsWith('_total') !== (kind === 'counter'))).toEqual([])
})
