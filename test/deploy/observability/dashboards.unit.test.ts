import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { metricsPage } from '../../../deploy/observability/figures.js'
import { grafanaFiles } from '../../../deploy/observability/grafana.js'
import { martDashboard } from '../../../deploy/observability/mart-panels.js'
import { dashboards } from '../../../deploy/observability/panels.js'
import { groupsOf, strangersIn } from './asked-figures.js'

const root = join(import.meta.dirname, '../../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const panels = dashboards.flatMap(({ uid, panels: own }) =>
  own.map((panel) => ({ ...panel, name: `${uid}: ${panel.title}` })),
)

it('finds a figure and a label that there are none of', () => {
  expect(strangersIn('sum by (topic) (rate(weir_sink_insert_rows_sum{table="x"}[5m]))')).toEqual([
    'none of its figures has topic',
  ])
  expect(strangersIn('weir_edge_recods_total{kind=~"a|b"}')).toEqual(['there is no weir_edge_recods_total'])
  expect(strangersIn('weir_edge_records_total{kind!="a"}')).toEqual(['weir_edge_records_total has no kind'])
  expect(strangersIn('weir_edge_request_seconds')).toEqual(['there is no weir_edge_request_seconds'])
  expect(strangersIn('up')).toEqual(['it asks for no figure of Weir'])
})

describe('the dashboards', () => {
  it.each(panels)('ask in "$name" only for what the services show', ({ asks }) => {
    for (const { query, legend } of asks) {
      expect(strangersIn(query), query).toEqual([])
      const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label)
      expect(groupsOf(query), query).toEqual(expect.arrayContaining(named))
    }
  })

  it('say of each panel what it shows, in a sentence', () => {
    expect(panels.filter(({ says }) => !says.endsWith('.')).map(({ name }) => name)).toEqual([])
  })

  it('are few lines however many organisations there are', () => {
    const ofOrgs = panels.flatMap(({ asks }) => asks).filter(({ query }) => /\borg\b/.test(query))
    expect(ofOrgs.length).toBeGreaterThan(1)
    for (const { query } of ofOrgs) expect(query).toMatch(/^topk\(\d+, /)
  })

  it.each([...grafanaFiles(dashboards, [martDashboard])])('are in %s as they were made', (path, text) => {
    expect(read(path), 'npm run publish-schemas writes it').toBe(text)
    const { uid, panels: own, templating } = JSON.parse(text)
    expect(path).toContain(uid)
    const isOfMarts = uid === martDashboard.uid
    const [source] = templating.list
    expect(source).toMatchObject({ query: isOfMarts ? 'grafana-clickhouse-datasource' : 'prometheus' })
    expect(new Set(own.map(({ id }: { id: number }) => id)).size).toBe(own.length)
    // No panel lies on another one.
    const cells = own.flatMap(({ gridPos: { x, y, w, h } }: { gridPos: Record<'x' | 'y' | 'w' | 'h', number> }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)}/${y + Math.floor(n / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
  })
})

it('has the page of metrics as it was made', () => {
  expect(read('docs/metrics.md'), 'npm run publish-schemas writes it').toBe(metricsPage())
})

type Rule = { alert: string; expr: string; annotations: { summary: string; runbook_url: string } }
const rules = (parse(read('deploy/prometheus/alerts.yml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
)

describe('the alerts', () => {
  const runbook = read('docs/runbook.md')
  const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )

  it.each(rules)('$alert asks only for what the services show, and has an entry in the runbook', (rule) => {
    expect(strangersIn(rule.expr)).toEqual([])
    const [page, anchor] = rule.annotations.runbook_url.split('#')
    expect(page).toBe('docs/runbook.md')
    expect(anchors).toContain(anchor)
    expect(rule.annotations.summary).toMatch(/\.$/)
  })

  it('are each shown to fire, and not to fire, by alerts.test.yml', () => {
    type Case = { alertname: string; exp_alerts: unknown[] }
    const tests = (parse(read('deploy/prometheus/alerts.test.yml')) as { tests: { alert_rule_test: Case[] }[] }).tests
    const cases = tests.flatMap((each) => each.alert_rule_test)
    const firing = (does: boolean) =>
      new Set(cases.filter(({ exp_alerts }) => exp_alerts.length > 0 === does).map(({ alertname }) => alertname))
    const names = rules.map(({ alert }) => alert)
    expect([...firing(true)].sort()).toEqual([...names].sort())
    expect([...firing(false)].sort()).toEqual([...names].sort())
  })
})

it('lets Prometheus read every service by its own address, and no figure twice', () => {
  type Job = { static_configs: { targets: string[] }[]; metric_relabel_configs?: { regex: string; action: string }[] }
  const { scrape_configs: jobs } = parse(read('deploy/prometheus/prometheus.yml')) as { scrape_configs: Job[] }
  const ports = { edge: 8080, integrity: 8082, sink: 8083, delivery: 8084 }
  expect(jobs.flatMap(({ static_configs: [own] }) => own?.targets)).toEqual(
    Object.entries(ports).map(([service, port]) => `${service}:${port}`),
  )
  const [edge] = jobs
  const dropped = (edge?.metric_relabel_configs ?? []).filter(({ action }) => action === 'drop')
  const isDropped = (text: string) => dropped.some(({ regex }) => new RegExp(`^(?:${regex})$`).test(text))
  expect(
    ['weir_integrity_records_total', 'weir_sink_insert_rows_sum', 'weir_delivery_pending', 'sink', 'delivery'].every(
      isDropped,
    ),
  ).toBe(true)
  expect(['weir_edge_records_total', 'edge', 'process_cpu_seconds_total'].some(isDropped)).toBe(false)
})
