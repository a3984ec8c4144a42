import { expect, it } from 'vitest'
import { createMetrics, joinMetrics, withoutOrganisations } from '#platform/health/metrics.js'

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

it('shows strangers no organisation', async () => {
  const metrics = createMetrics('integrity')
  metrics.counter('org_records_total', 'records', ['org', 'outcome']).inc({ org: 'acme', outcome: 'accepted' })
  metrics.counter('records_total', 'records', ['type']).inc({ type: 'shops' })
  expect(await metrics.text()).toContain('weir_integrity_org_records_total{org="acme",outcome="accepted"} 1')
  const page = withoutOrganisations(await metrics.text())
  expect(page).not.toContain('acme')
  expect(page).toContain('weir_integrity_records_total{type="shops"} 1')
})
