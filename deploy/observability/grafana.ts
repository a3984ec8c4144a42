// Dashboards as Grafana reads them: its classic JSON, which Grafana 10 to 13 take.
import { aboutMart, type MartDashboard, type MartPanel, organisationsQuery } from './mart-panels.js'
import type { Dashboard, Panel } from './panels.js'

const columns = 24
const sizes: Record<Panel['kind'], { w: number; h: number }> = {
  number: { w: 4, h: 4 },
  lines: { w: 8, h: 8 },
  table: { w: 8, h: 8 },
}

/** The files of deploy/grafana/, by their paths. */
export const grafanaFiles = (
  dashboards: readonly Dashboard[],
  ofMarts: readonly MartDashboard[] = [],
): Map<string, string> =>
  new Map(
    [...dashboards.map(ofFigures), ...ofMarts.map(toMartDashboard)].map((dashboard) => [
      `deploy/grafana/${dashboard.uid}.json`,
      `${JSON.stringify(dashboard, null, 2)}\n`,
    ]),
  )

const frameOf = ({ uid, title, about }: Pick<Dashboard, 'uid' | 'title' | 'about'>) => ({
  uid,
  title,
  description: about,
  tags: ['weir'],
  timezone: 'browser',
  schemaVersion: 39,
  version: 1,
  editable: true,
  graphTooltip: 1,
})

const chooseSource = (label: string, query: string) => ({
  ...{ type: 'datasource', name: 'datasource', label, query, current: {}, hide: 0 },
})

const frameEnd = {
  annotations: { list: [] },
  links: [{ type: 'dashboards', title: 'Weir', tags: ['weir'], asDropdown: true, includeVars: true, keepTime: true }],
}

const ofFigures = (dashboard: Dashboard) => ({
  ...frameOf(dashboard),
  refresh: '30s',
  time: { from: 'now-3h', to: 'now' },
  templating: { list: [chooseSource('Prometheus', 'prometheus')] },
  ...frameEnd,
  panels: place(dashboard.panels).map(({ panel, x, y }, n) => toPanel(panel, n + 1, { ...sizes[panel.kind], x, y })),
})

const toMartDashboard = (dashboard: MartDashboard) => ({
  ...frameOf(dashboard),
  timezone: 'utc',
  refresh: '',
  time: { from: 'now-90d', to: 'now' },
  templating: {
    list: [
      chooseSource('ClickHouse', clickhousePlugin),
      {
        ...{ type: 'query', name: 'org', label: 'Organisation', datasource: martSource, query: organisationsQuery },
        ...{ refresh: 1, sort: 1, current: {}, hide: 0 },
      },
    ],
  },
  ...frameEnd,
  panels: place(dashboard.panels).map(({ panel, x, y }, n) =>
    toMartPanel(panel, n + 1, { ...sizes[panel.kind], x, y }),
  ),
})

/** From left to right, and below one another: a row is as high as its highest panel. */
const place = <Some extends { kind: Panel['kind'] }>(panels: readonly Some[]) => {
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
const clickhousePlugin = 'grafana-clickhouse-datasource'
const martSource = { type: clickhousePlugin, uid: `\${datasource}` }

const lineOptions = {
  legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
  tooltip: { mode: 'multi', sort: 'desc' },
}
const tableOptions = { showHeader: true, cellHeight: 'sm' }
const lineLook = { fillOpacity: 10, showPoints: 'never', spanNulls: false }

const toMartPanel = ({ title, kind, mart, query, unit = 'short' }: MartPanel, id: number, gridPos: object) => ({
  id,
  title,
  description: aboutMart(mart),
  type: { lines: 'timeseries', table: 'table' }[kind],
  datasource: martSource,
  gridPos,
  fieldConfig: {
    defaults: { unit, ...(kind === 'lines' && { custom: lineLook }), color: { mode: 'palette-classic' } },
    overrides: [],
  },
  options: kind === 'lines' ? lineOptions : tableOptions,
  targets: [
    {
      ...{ refId: 'A', datasource: martSource, editorType: 'sql', rawSql: query, pluginVersion: '4.0.0' },
      // The plugin's own numbers for what an answer is.
      ...(kind === 'lines' ? { queryType: 'timeseries', format: 0 } : { queryType: 'table', format: 1 }),
    },
  ],
})

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
      ...(kind === 'lines' && { custom: lineLook }),
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
    lines: lineOptions,
    number: { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, textMode: 'auto' },
    table: tableOptions,
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
