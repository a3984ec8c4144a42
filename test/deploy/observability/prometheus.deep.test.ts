import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { execa } from 'execa'
import { expect, it, type TestContext } from 'vitest'
import { parse, stringify } from 'yaml'
import { interaction } from '#schemas/records/interaction.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { freePorts } from '../../../deploy/embedded/servers/ports.js'
import { aptInstall } from '../../../deploy/embedded/setup/java.mjs'
import { grafanaFiles } from '../../../deploy/observability/grafana.js'
import { dashboards } from '../../../deploy/observability/panels.js'
import { eventually } from '../../support/eventually.js'
import { runWeir } from '../../support/run-weir.js'
import { sampleOf } from '../../support/sample.js'
import { newOrganisation, system } from '../../support/system/system.js'
import { drawDashboard, type Series } from './draw.js'

// The alerts and every query of the dashboards, on a real Prometheus: Debian's package.

const folder = join(import.meta.dirname, '../../../deploy/prometheus')
const has = (program: string) =>
  (process.env.PATH ?? '').split(delimiter).some((path) => existsSync(join(path, program)))
const canInstall = process.getuid?.() === 0 && existsSync('/etc/debian_version')
const noPrometheus =
  'needs prometheus and promtool, which are installed here only as root on Debian (apt-get install prometheus)'

/** Installs them where they are missing; a test without them is skipped, with the reason. */
const needPrometheus = async (context: TestContext): Promise<void> => {
  if (has('promtool')) return
  if (!canInstall) context.skip(noPrometheus)
  await aptInstall('prometheus')
}

it('reads the scrape configuration and the alerts, and each alert fires when it should', async (context) => {
  await needPrometheus(context)
  for (const words of [
    ['check', 'config', 'prometheus.yml'],
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ])
    await execa('promtool', words, { cwd: folder })
})

it('answers every query of the dashboards, with figures of a system that works', async (context) => {
  await needPrometheus(context)
  const org = await newOrganisation('prometheus')
  const prometheus = await startPrometheus()
  let isOver = false
  try {
    const load = keepSending(org, () => isOver)
    await runWeir(['verify', '--since', '1s'], system.env)
    for (const { title, asks } of dashboards.flatMap(({ panels }) => panels))
      for (const { query } of asks) {
        const ask = () => prometheus.ask(query.replaceAll('$interval', '30s'))
        await ask()
        if (!silent.includes(title))
          await eventually(async () =>
            expect((await ask()).filter(isNumber).length, `${title}: ${query}`).toBeGreaterThan(0),
          )
      }
    isOver = true
    await load
    const pictures = process.env.DASHBOARD_PICTURES
    if (pictures)
      for (const [path, text] of grafanaFiles(dashboards)) {
        const dashboard = dashboards.find(({ uid }) => path.includes(uid))
        const drawn = new Map<string, Series[]>()
        for (const { title, asks } of dashboard?.panels ?? [])
          drawn.set(title, (await Promise.all(asks.map(prometheus.draw))).flat())
        await drawDashboard(pictures, JSON.parse(text), (title) => drawn.get(title) ?? [])
      }
    const firing = await prometheus.firing()
    expect(firing.filter((name) => name !== 'WeirKeysEnd')).toEqual([])
  } finally {
    isOver = true
    await prometheus.stop()
  }
})

// Nothing of this happens in a system that is well.
const silent = [
  ...[
    'Not taken',
    'Set aside in an hour',
    'Inserts that failed',
    'Requests that met a limit',
    'Until the certificate ends',
  ],
  // Asked for once a minute.
  'Since everything was verified',
  // Only while something waits at the moment of the scrape.
  'The partitions that wait longest',
]

const isNumber = ([, value]: [number, string]): boolean => Number.isFinite(Number(value))

const keepSending = async ({ uploader }: Awaited<ReturnType<typeof newOrganisation>>, isOver: () => boolean) => {
  while (!isOver()) {
    const known = sampleOf(shop)
    await uploader.upload('shops', [known, sampleOf(shop, { region: 'nowhere' })])
    await uploader.upload('offers?missing_references=wait', [sampleOf(offer, { shop_id: randomUUID() })])
    await uploader.interact(
      sampleOf(interaction, { student_id: null, item_type: 'SHOP', item_id: String(known.shop_id) }),
    )
  }
}

const startPrometheus = async () => {
  const [port = 0] = await freePorts(1)
  const data = mkdtempSync(join(tmpdir(), 'weir-prometheus-'))
  const config = parse(readFileSync(join(folder, 'prometheus.yml'), 'utf8'))
  config.global = { scrape_interval: '1s', evaluation_interval: '1s' }
  config.rule_files = [join(folder, 'alerts.yml')]
  const { INTEGRITY_PORT, SINK_PORT } = system.env
  const [edge, others] = config.scrape_configs
  edge.static_configs[0].targets = [new URL(system.edgeUrl).host]
  others.static_configs[0].targets = [`127.0.0.1:${INTEGRITY_PORT}`, `127.0.0.1:${SINK_PORT}`]
  const file = join(data, 'prometheus.yml')
  writeFileSync(file, stringify(config))
  const running = execa(
    'prometheus',
    [`--config.file=${file}`, `--storage.tsdb.path=${join(data, 'data')}`, `--web.listen-address=127.0.0.1:${port}`],
    { all: true, reject: false },
  )
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`)
    const body = (await answer.json()) as { status: string; error?: string; data: unknown }
    expect(body, path).toMatchObject({ status: 'success' })
    return body.data
  }
  type Result = { value: [number, string] }[]
  const ask = async (query: string) =>
    ((await get(`query?query=${encodeURIComponent(query)}`)) as { result: Result }).result.map(({ value }) => value)
  await eventually(async () => expect(await ask('count(up == 1)')).toMatchObject([[expect.anything(), '3']]))
  type Range = { metric: Record<string, string>; values: [number, string][] }[]
  const draw = async ({ query, legend }: { query: string; legend: string }): Promise<Series[]> => {
    const until = Date.now() / 1000
    const text = encodeURIComponent(query.replaceAll('$interval', '30s'))
    const found = (await get(`query_range?query=${text}&start=${until - 120}&end=${until}&step=2`)) as { result: Range }
    return found.result.map(({ metric, values }) => ({
      name: legend
        ? legend.replaceAll(/\{\{(\w+)\}\}/g, (_, label) => metric[label] ?? '')
        : Object.values(metric).join(' '),
      points: values.map(([time, value]) => [time, Number(value)]),
    }))
  }
  return {
    ask,
    draw,
    firing: async () =>
      ((await get('alerts')) as { alerts: { state: string; labels: { alertname: string } }[] }).alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels }) => labels.alertname),
    stop: async () => {
      running.kill()
      await running
      rmSync(data, { recursive: true, force: true })
    },
  }
}
