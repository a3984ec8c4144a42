import { expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { figuresOf } from '../../deploy/observability/figures.js'
import { eventually } from '../support/eventually.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { newOrganisation, system } from '../support/system/system.js'
import { withTopicSetting } from '../support/system/topic-setting.js'

const org = await newOrganisation('seeing')
await org.uploader.upload('shops', [sampleOf(shop), sampleOf(shop, { region: 'nowhere' })])

const { INTEGRITY_PORT, SINK_PORT } = system.env
const pageOf: Record<string, string> = {
  edge: `${system.edgeUrl}/metrics`,
  integrity: `http://127.0.0.1:${INTEGRITY_PORT}/metrics`,
  sink: `http://127.0.0.1:${SINK_PORT}/metrics`,
}

it.each(Object.keys(pageOf))(
  'shows on /metrics of %s the figures that are declared, and no others',
  async (service) => {
    const declared = new Map(figuresOf(service).map((figure) => [figure.name, figure]))
    const page = await (await fetch(pageOf[service] ?? '')).text()
    // The edge shows those of its peers, too.
    const isOwn = (name: string) => !name.startsWith('weir_') || name.startsWith(`weir_${service}_`)
    const shown = [...page.matchAll(/^# TYPE (\S+) (\S+)/gm)].filter(([, name = '']) => isOwn(name))
    expect(shown.map(([, name, type]) => `${name} ${type}`).sort()).toEqual(
      [...declared.values()].map(({ name, type }) => `${name} ${type}`).sort(),
    )
    const samples = [...page.matchAll(/^(\w+)\{([^}]*)\}/gm)].filter(([, name = '']) => isOwn(name))
    for (const [line, name = '', labels = ''] of samples) {
      const figure = declared.get(name) ?? declared.get(name.replace(/_(bucket|sum|count)$/, ''))
      const named = [...labels.matchAll(/(\w+)="/g)].map(([, label]) => label).filter((label) => label !== 'le')
      expect(figure?.labels, line).toEqual(expect.arrayContaining(named))
    }
  },
)

it('knows what the parts hold, and how long rows take', async () => {
  const valueIn = (page: string, pattern: RegExp) => Number(pattern.exec(page)?.[1] ?? Number.NaN)
  const edge = async () => (await fetch(pageOf.edge ?? '')).text()
  await eventually(async () => {
    const page = await edge()
    expect(valueIn(page, /^weir_edge_storage_used_bytes\{part="postgres"\} (\S+)/m)).toBeGreaterThan(1)
    const [free, size] = ['free', 'size'].map((what) =>
      valueIn(page, new RegExp(`^weir_edge_storage_${what}_bytes\\{part="clickhouse"\\} (\\S+)`, 'm')),
    )
    expect(free).toBeGreaterThan(0)
    expect(size).toBeGreaterThanOrEqual(free ?? 0)
    expect(valueIn(page, /^weir_sink_write_delay_seconds_count (\S+)/m)).toBeGreaterThan(0)
  })
})

type Status = {
  is_well: boolean
  services: { name: string; is_ready: boolean; address: string }[]
  kafka: { ok: boolean; found: { stage: string; topic: string; lag: number }[] }
  postgres: { ok: boolean; found: { waiting: number; last_verify: { is_clean: boolean } | null } }
  clickhouse: { ok: boolean; problem?: string }
  wrong: { what: string; next: string }[]
}
const status = async (env: Record<string, string> = {}) => {
  const { stdout, exitCode } = await runWeir(['status', '--wait', '60s', '--json'], {
    ...system.env,
    EDGE_URL: system.edgeUrl,
    ...env,
  })
  return { ...(JSON.parse(stdout) as Status), exitCode }
}

it('shows with weir status how the system is, and the last verify', async () => {
  await runWeir(['verify', '--since', '1s'], system.env)
  const found = await status()
  expect(found.services.map(({ name, is_ready }) => `${name} ${is_ready}`)).toEqual([
    'edge true',
    'integrity true',
    'sink true',
    'delivery true',
  ])
  const stages = new Set(found.kafka.found.map(({ stage }) => stage))
  expect(stages).toEqual(new Set(['decide', 'write']))
  // Nobody writes these to ClickHouse: what lies there would be late for good.
  const topics = found.kafka.found.map(({ topic }) => topic)
  expect(topics.filter((topic) => ['weir.erasures', 'weir.verdicts'].includes(topic))).toEqual([])
  expect(found.postgres.found.last_verify).not.toBeNull()
  expect(found.exitCode).toBe(found.is_well ? 0 : 1)
  const { stdout } = await runWeir(['status', '--wait', '60s'], { ...system.env, EDGE_URL: system.edgeUrl })
  expect(stdout).toMatch(/SERVICE +STATE +VERSION[\s\S]*to be decided[\s\S]*last verify +a moment ago/)
})

it('shows with weir status what is left while parts are away, each named', async () => {
  const nobody = 'http://127.0.0.1:1'
  const found = await status({ KAFKA_BROKERS: '127.0.0.1:1', CLICKHOUSE_URL: nobody, PEERS: `integrity=${nobody}` })
  expect(found).toMatchObject({
    ...{ is_well: false, exitCode: 1, kafka: { ok: false }, clickhouse: { ok: false }, postgres: { ok: true } },
    services: [
      { name: 'edge', is_ready: true },
      { name: 'integrity', is_ready: false },
      { name: 'sink', is_ready: true },
      { name: 'delivery', is_ready: true },
    ],
  })
  const said = found.wrong.map(({ what }) => what).join('\n')
  expect(said).toContain('Kafka does not answer at 127.0.0.1:1')
  expect(said).toContain('ClickHouse does not answer')
  expect(said).toContain('integrity does not answer')
})

type Doctor = {
  is_well: boolean
  parts: { part: string; about: string; findings: { level: string; what: string }[] }[]
}
const doctor = async (env: Record<string, string> = {}, ...words: string[]) => {
  const { stdout, exitCode } = await runWeir(['doctor', '--wait', '60s', '--json', ...words], { ...system.env, ...env })
  const { is_well, parts } = JSON.parse(stdout) as Doctor
  const found = parts.flatMap(({ part, findings }) => findings.map(({ level, what }) => `${part}, ${level}: ${what}`))
  return { is_well, parts, found, exitCode }
}

it('finds with weir doctor nothing wrong with parts as npm start makes them', async () => {
  const { found, parts, exitCode, is_well } = await doctor()
  expect(found).toEqual([])
  expect(parts.map(({ part, about }) => `${part}: ${about}`)).toEqual([
    expect.stringMatching(/^Kafka: 1 broker, 34 topics of Weir$/),
    expect.stringMatching(/^Postgres: 18\.\d+.*, \d+ of \d+ connections in use, 0 standbys$/),
    expect.stringMatching(/^registry: \d\d schemas of Weir$/),
    expect.stringMatching(/^ClickHouse: \d+\.\d+\S*, \d+ tables and views of Weir$/),
    'clocks: of ClickHouse and Postgres',
    expect.stringMatching(/^environment: /),
    'certificates: none are named in this shell',
  ])
  expect({ exitCode, is_well }).toEqual({ exitCode: 0, is_well: true })
})

it('finds with weir doctor a topic that somebody changed, a part that is away and a mistyped variable', async () => {
  const topic = 'weir.submitted.student-favourites'
  const mistyped = await withTopicSetting(system.env.KAFKA_BROKERS, topic, { 'retention.ms': '86400000' }, () =>
    doctor({ KAFKA_BROKER: 'x', CLICKHOUSE_URL: 'http://127.0.0.1:1' }),
  )
  expect(mistyped.found).toEqual([
    `Kafka, wrong: ${topic}: retention.ms is 86400000 instead of 7776000000`,
    expect.stringContaining('ClickHouse, wrong: ClickHouse does not answer'),
    'environment, warning: KAFKA_BROKER is no setting of Weir',
  ])
  expect(mistyped.exitCode).toBe(1)
  expect((await doctor({ KAFKA_BROKER: 'x' })).exitCode).toBe(0)
  expect((await doctor({ KAFKA_BROKER: 'x' }, '--strict')).exitCode).toBe(1)
})
