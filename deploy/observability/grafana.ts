// Dashboards as Grafana reads them: its classic JSON, which Grafana 10 to 13 take.
import type { Dashboard, Panel } from './panels.js'

const columns = 24
const sizes: Record<Panel['kind'], { w: number; h: number }> = {
  number: { w: 4, h: 4 },
  lines: { w: 8, h: 8 },
  table: { w: 8, h: 8 },
}

/** The files of deploy/grafana/, by their paths. */
export const grafanaFiles = (dashboards: readonly Dashboard[]): Map<string, string> =>
  new Map(
    dashboards.map((dashboard) => [
      `deploy/grafana/${dashboard.uid}.json`,
      `${JSON.stringify(toGrafana(dashboard), null, 2)}\n`,
    ]),
  )

const toGrafana = ({ uid, title, about, panels }: Dashboard) => ({
  uid,
  title,
  description: about,
  tags: ['weir'],
  timezone: 'browser',
  schemaVersion: 39,
  version: 1,
  editable: true,
  graphTooltip: 1,
  refresh: '30s',
  time: { from: 'now-3h', to: 'now' },
  templating: {
    list: [{ type: 'datasource', name: 'datasource', label: 'Prometheus', query: 'prometheus', current: {}, hide: 0 }],
  },
  annotations: { list: [] },
  links: [{ type: 'dashboards', title: 'Weir', tags: ['weir'], asDropdown: true, includeVars: true, keepTime: true }],
  panels: place(panels).map(({ panel, x, y }, n) => toPanel(panel, n + 1, { ...sizes[panel.kind], x, y })),
})

/** From left to right, and below one another: a row is as high as its highest panel. */
const place = (panels: readonly Panel[]) => {
  let [x, y, high] = [0, 0, 0]
  return panels.map((panel) => {
    const { w, h } = sizes[panel.kind]
    if (x + w > columns) [x, y, high] = [0, y + high, 0]
    const at = { panel, x, y }
    x += w
    high = Math.max(high, h)
    return at
  })
}

const source = { type: 'prometheus', uid: `\${datasource}` }

const toPanel = ({ title, says, kind, unit, asks, alarming }: Panel, id: number, gridPos: object) => ({
  id,
  title,
  description: says,
  type: { lines: 'timeseries', number: 'stat', table: 'table' }[kind],
  datasource: source,
  gridPos,
  fieldConfig: {
    defaults: {
      unit,
      min: 0,
      ...(kind === 'lines' && { custom: { fillOpacity: 10, showPoints: 'never', spanNulls: false } }),
      color: { mode: kind === 'lines' ? 'palette-classic' : 'thresholds' },
      thresholds: {
        mode: 'absolute',
        steps: [
          { color: 'green', value: null },
          ...(alarming && alarming.warn < alarming.wrong ? [{ color: 'yellow', value: alarming.warn }] : []),
          ...(alarming ? [{ color: 'red', value: alarming.wrong }] : []),
        ],
      },
    },
    overrides: [],
  },
  options: {
    lines: {
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
    number: { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, textMode: 'auto' },
    table: { showHeader: true, cellHeight: 'sm' },
  }[kind],
  ...(kind === 'table' && { transformations: [{ id: 'merge', options: {} }] }),
  targets: asks.map(({ query, legend }, n) => ({
    refId: String.fromCharCode('A'.charCodeAt(0) + n),
    datasource: source,
    expr: query.replaceAll('$interval', '$__rate_interval'),
    legendFormat: legend || '__auto',
    ...(kind === 'lines' ? { range: true } : { instant: true, range: false }),
    ...(kind === 'table' && { format: 'table' }),
  })),
})
