import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { packageRoot } from '#platform/process/package-root.js'
import { catalogue } from '#schemas/catalogue.js'
import { groupsOf } from '#schemas/derive/topics.js'
import { settingsByReader, valuesSchema } from '../../../deploy/helm/values-schema.js'
import { configSchema as delivery } from '../../../services/delivery/config.js'
import { configSchema as edge } from '../../../services/edge/config.js'
import { configSchema as integrity } from '../../../services/integrity/config.js'
import { configSchema as operator } from '../../../services/operator/config.js'
import { configSchema as sink } from '../../../services/sink/config.js'
import { chart, chartSum, readRendered, valueSets, valuesFile } from './render.js'

// The chart as Helm rendered it (render.ts).

type Labels = Record<string, string>
type EnvVar = { name: string; value?: string; valueFrom?: { secretKeyRef: { name: string; key: string } } }
type Probe = { httpGet: { path: string; port: string } }
type Container = {
  name: string
  image: string
  args: string[]
  env: EnvVar[]
  ports?: { name: string; containerPort: number }[]
  securityContext: object
  resources: { requests: { cpu: string; memory: string }; limits: { memory: string } }
  volumeMounts: { name: string; mountPath: string }[]
  lifecycle?: { preStop: { sleep: { seconds: number } } }
} & Partial<Record<'startupProbe' | 'livenessProbe' | 'readinessProbe', Probe>>
type PodTemplate = {
  metadata: { labels: Labels }
  spec: {
    serviceAccountName: string
    automountServiceAccountToken: boolean
    enableServiceLinks: boolean
    securityContext: object
    containers: Container[]
    terminationGracePeriodSeconds?: number
    topologySpreadConstraints?: { topologyKey: string; labelSelector: { matchLabels: Labels } }[]
    volumes: { name: string; projected?: { sources: Record<string, { items: { path: string }[] }>[] } }[]
  }
}
type KubeObject = {
  kind: string
  metadata: { name: string; labels: Labels; annotations?: Record<string, string> }
  // Each kind has its own; what a test reads it names.
  spec: Record<string, unknown>
}

const documentsIn = (text: string): KubeObject[] =>
  parseAllDocuments(text, { version: '1.1' })
    .map((document) => document.toJS() as KubeObject | null)
    .filter((each) => each !== null)
const ofKind = (objects: readonly KubeObject[], kind: string) => objects.filter((each) => each.kind === kind)
const podsOf = (objects: readonly KubeObject[]) =>
  [...ofKind(objects, 'Deployment'), ...ofKind(objects, 'Job')].map(({ metadata, spec }) => ({
    name: metadata.name,
    pod: spec.template as PodTemplate,
  }))
const containerOf = ({ spec }: PodTemplate): Container => spec.containers[0] as Container
const matches = (selector: Labels, labels: Labels) =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)
const readValues = (file: string) => parse(readFileSync(file, 'utf8')) as Record<string, unknown>

/** As Helm lays one file of values over another. */
const overlay = (below: unknown, above: unknown): unknown => {
  const isMap = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isMap(below) || !isMap(above)) return above
  const merged = { ...below }
  for (const [name, value] of Object.entries(above)) merged[name] = overlay(below[name], value)
  return merged
}
const valuesOf = (...names: string[]) =>
  names.map((name) => readValues(valuesFile(name))).reduce(overlay as never, readValues(join(chart, 'values.yaml')))

const configs: Record<string, { properties: object }> = {
  ...{ edge, integrity, sink, delivery },
  ...{ operator, provision: operator },
}
const stopWithin = 9

describe.each(Object.keys(valueSets))('the chart with the values %s', (set) => {
  const text = readRendered(set)
  const objects = documentsIn(text)
  const pods = podsOf(objects)

  it('was rendered from the chart as it is now', () => {
    const again = 'node deploy/embedded/run-source.mjs test/deploy/helm/render.ts'
    expect(text.slice(0, text.indexOf('\n')), `the chart has changed; run: ${again}`).toContain(chartSum())
  })

  it('has a pod for each service, and one that provisions', () => {
    const shell = set === 'every-option' ? ['weir-operator'] : []
    const expected = ['weir-delivery', 'weir-edge', 'weir-integrity', 'weir-provision', 'weir-sink', ...shell]
    expect(pods.map(({ name }) => name).sort()).toEqual(expected.sort())
    for (const { pod } of pods) {
      const [, main = ''] = containerOf(pod).args
      const source = join(packageRoot, main.replace(/^dist\/(.*)\.js$/, '$1.ts'))
      if (main !== '-e') expect(existsSync(source), main).toBe(true)
    }
  })

  it.each(pods)('keeps $name within the restricted level', ({ pod }) => {
    expect(pod.spec).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(pod.spec.containers).toHaveLength(1)
    expect(containerOf(pod)).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      resources: {
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      },
      image: expect.stringMatching(/:\d+\.\d+\.\d+$/),
    })
  })

  it.each(pods)('gives $name only variables that it reads, and secrets by reference alone', ({ name, pod }) => {
    const { properties } = configs[name.replace('weir-', '')] ?? { properties: {} }
    const { env } = containerOf(pod)
    const names = env.map((each) => each.name)
    // The edge's pod is where operators' commands run, and these tell how they are called.
    expect(names.filter((each) => !(each in properties) && each !== 'CALLED_AS')).toEqual([])
    expect(new Set(names).size).toBe(names.length)
    const secret = (variable: string) => `${variable}_FILE` in properties || variable === 'WEIR_DEMO_KEY'
    expect(env.filter((each) => secret(each.name) && each.value !== undefined)).toEqual([])
    const paths = pod.spec.volumes
      .flatMap(({ projected }) => projected?.sources ?? [])
      .flatMap((source) => Object.values(source).flatMap(({ items }) => items.map(({ path }) => `/etc/weir/${path}`)))
    const files = env.filter((each) => each.name.endsWith('_FILE')).map((each) => each.value)
    expect(files.sort()).toEqual(paths.sort())
    // Each part that it reads the address of is named.
    const addresses = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'POSTGRES_URL', 'CLICKHOUSE_URL']
    for (const address of addresses.filter((each) => each in properties))
      expect(names.includes(address) || names.includes(`${address}_FILE`), address).toBe(true)
  })

  it.each(pods.filter(({ name }) => /edge|integrity|sink|delivery/.test(name)))(
    'watches over $name',
    ({ name, pod }) => {
      const container = containerOf(pod)
      const ports = Object.fromEntries((container.ports ?? []).map((port) => [port.name, String(port.containerPort)]))
      const envOf = (variable: string) => container.env.find((each) => each.name === variable)?.value
      for (const probe of [container.startupProbe, container.livenessProbe])
        expect(probe?.httpGet).toEqual({ path: '/healthz', port: 'operations' })
      const readiness = name === 'weir-edge' ? '/readyz?for=uploads' : '/readyz'
      expect(container.readinessProbe?.httpGet).toEqual({ path: readiness, port: 'operations' })
      const variable = {
        'weir-edge': 'OPERATIONS_PORT',
        'weir-integrity': 'INTEGRITY_PORT',
        'weir-sink': 'SINK_PORT',
        'weir-delivery': 'DELIVERY_PORT',
      }[name]
      expect(ports.operations).toBe(envOf(variable ?? ''))
      if (name === 'weir-edge') expect(ports.http).toBe(envOf('EDGE_PORT'))
      const drain = container.lifecycle?.preStop.sleep.seconds ?? 0
      expect(name === 'weir-edge' ? drain : 1).toBeGreaterThan(0)
      expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(drain + stopWithin)
      expect(pod.spec.topologySpreadConstraints?.map((each) => each.topologyKey)).toEqual([
        'topology.kubernetes.io/zone',
        'kubernetes.io/hostname',
      ])
      for (const { labelSelector } of pod.spec.topologySpreadConstraints ?? [])
        expect(matches(labelSelector.matchLabels, pod.metadata.labels)).toBe(true)
    },
  )

  it('selects with each budget, policy and Service the pods of one component, and leaves no pod without a policy', () => {
    const chosenBy = (selector: Labels) =>
      pods.filter(({ pod }) => matches(selector, pod.metadata.labels)).map(({ name }) => name)
    for (const { metadata, spec } of ofKind(objects, 'PodDisruptionBudget')) {
      expect(chosenBy((spec.selector as { matchLabels: Labels }).matchLabels)).toEqual([metadata.name])
      expect(spec.maxUnavailable).toBe(1)
    }
    for (const { metadata, spec } of ofKind(objects, 'Service'))
      expect(chosenBy(spec.selector as Labels)).toEqual([metadata.name.replace('-operations', '')])
    const covered = ofKind(objects, 'NetworkPolicy').map(({ metadata, spec }) => {
      expect(spec.policyTypes).toEqual(['Ingress', 'Egress'])
      expect(chosenBy((spec.podSelector as { matchLabels: Labels }).matchLabels)).toEqual([metadata.name])
      return metadata.name
    })
    expect(covered.sort()).toEqual(pods.map(({ name }) => name).sort())
  })

  it('shows the page of operators to the network of monitoring alone', () => {
    const access = ofKind(objects, 'Service').filter(({ metadata }) => metadata.name === 'weir-edge')
    const ports = access.flatMap(({ spec }) => spec.ports as { targetPort: string }[])
    expect(ports.map(({ targetPort }) => targetPort)).toEqual(['http'])
    type Rule = { ports: { port: number }[]; from?: unknown[] }
    for (const { metadata, spec } of ofKind(objects, 'NetworkPolicy')) {
      const rules = (spec.ingress ?? []) as Rule[]
      const open = rules.filter(({ from }) => from === undefined).flatMap(({ ports }) => ports.map(({ port }) => port))
      expect(
        open.filter((port) => port !== 8080),
        metadata.name,
      ).toEqual([])
    }
  })

  it('counts the objects of a hook as none of the release, and takes them away', () => {
    const hooks = objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'])
    expect(hooks.map(({ kind }) => kind).sort()).toEqual(['Job', 'NetworkPolicy', 'ServiceAccount'])
    const accounts = ofKind(objects, 'ServiceAccount')
    for (const { name, pod } of pods) {
      const isHook = hooks.some((each) => each.metadata.name === name)
      const account = accounts.find(({ metadata }) => metadata.name === pod.spec.serviceAccountName)
      expect(Boolean(account?.metadata.annotations?.['helm.sh/hook']), name).toBe(isHook)
    }
    for (const { metadata } of hooks)
      expect(metadata.annotations).toMatchObject({
        'helm.sh/hook': 'pre-install,pre-upgrade',
        'helm.sh/hook-delete-policy': 'before-hook-creation,hook-succeeded',
      })
  })
})

describe('instances by load', () => {
  const objects = documentsIn(readRendered('every-option'))

  it('leaves the number of instances to what counts the load', () => {
    const scaled = [...ofKind(objects, 'HorizontalPodAutoscaler'), ...ofKind(objects, 'ScaledObject')]
    const targets = scaled.map(({ spec }) => (spec.scaleTargetRef as { name: string }).name)
    expect(targets.sort()).toEqual(['weir-edge', 'weir-integrity', 'weir-sink'])
    // As rendered without a cluster, where none run yet; on one it is the number that runs (kubernetes.deep.test.ts).
    for (const { metadata, spec } of ofKind(objects, 'Deployment'))
      if (targets.includes(metadata.name)) expect(spec.replicas, metadata.name).toBe(2)
  })

  it('looks at the consumer groups that the services have', () => {
    const groups = ofKind(objects, 'ScaledObject').flatMap(({ spec }) =>
      (spec.triggers as { metadata: { consumerGroup: string } }[]).map(({ metadata }) => metadata.consumerGroup),
    )
    const integrityGroups = Object.values(groupsOf(catalogue)).map(({ groupId }) => groupId)
    const sinkGroups = integrityGroups.map((group) => group.replace('integrity', 'sink'))
    expect(groups.sort()).toEqual([...integrityGroups, ...sinkGroups].sort())
  })
})

describe('the values', () => {
  const validate = new Ajv({ strict: false }).compile(JSON.parse(valuesSchema()))
  const problemsOf = (values: unknown) => (validate(values) ? [] : validate.errors?.map(({ message }) => message))

  it.each(Object.entries(valueSets))('%s are taken', (_, names) => {
    expect(problemsOf(valuesOf(...names))).toEqual([])
  })

  const good = valuesOf('own-tls')
  it.each([
    ['no parts', readValues(join(chart, 'values.yaml'))],
    ['a setting that does not exist', overlay(good, { settings: { MAX_LAG: 3 } })],
    ['a setting of another service', overlay(good, { edge: { settings: { SINK_GATHER_MS: 20 } } })],
    ['a text for a switch', overlay(good, { settings: { KAFKA_TLS: 'maybe' } })],
    ['a number out of bounds', overlay(good, { settings: { SUBMITTED_PARTITIONS: 0 } })],
    ['a password in the values', overlay(good, { settings: { KAFKA_PASSWORD: 'secret' } })],
    ['an address with a password in the values', overlay(good, { secrets: { POSTGRES_URL: 'postgres://a:b@c/d' } })],
    ['a fail point', overlay(good, { settings: { WEIR_FAILPOINT: 'after-submit-sent' } })],
    ['a port, which the chart decides', overlay(good, { edge: { settings: { EDGE_PORT: 80 } } })],
    ['more changes of the lanes than versions have room for', overlay(good, { integrity: { generation: 16 } })],
    ['a word that is misspelt', overlay(good, { edge: { replica: 3 } })],
  ])('%s is refused', (_, values) => {
    expect(problemsOf(values)).not.toEqual([])
  })

  it('has every key of values.yaml in the schema, so that none is forgotten', () => {
    const schema = JSON.parse(valuesSchema()) as { properties: object }
    expect(Object.keys(schema.properties).sort()).toEqual(
      [...Object.keys(readValues(join(chart, 'values.yaml'))), 'global'].sort(),
    )
  })

  it('hands the layout of the partitions to provisioning alone: the services go by what is stored', () => {
    const readers = JSON.parse(settingsByReader()) as Record<string, string[]>
    const given = Object.keys(readers).filter((reader) => readers[reader]?.includes('SUBMITTED_PARTITIONS'))
    expect(given).toEqual(['operator'])
  })
})

it('has the version of Weir', () => {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'))
  expect(parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))).toMatchObject({ version, appVersion: version })
})

it('gives the users of the example of Strimzi the rights of deploy/kafka-acls.sh', () => {
  const script = join(packageRoot, 'deploy/kafka-acls.sh')
  const lines = execFileSync(script, ['--dry-run', '--bootstrap-server', 'x'], { encoding: 'utf8' }).trim().split('\n')
  const wanted = lines.flatMap((line) => {
    const words = line.split(' ')
    const after = (name: string) => words.flatMap((word, at) => (word === name ? [words[at + 1] ?? ''] : []))
    const [user = ''] = after('--allow-principal').map((each) => each.replace('User:', ''))
    const pattern = after('--resource-pattern-type')[0] === 'prefixed' ? 'prefix' : 'literal'
    const resources = [
      ...after('--topic').map((name) => `topic ${name}`),
      ...after('--group').map((name) => `group ${name}`),
    ]
    return resources.flatMap((resource) => after('--operation').map((each) => `${user} ${each} ${resource} ${pattern}`))
  })
  type Acl = { operations: string[]; resource: { type: string; name: string; patternType?: string } }
  const users = ofKind(documentsIn(readFileSync(join(chart, '../examples/strimzi.yaml'), 'utf8')), 'KafkaUser')
  const given = users.flatMap(({ metadata, spec }) =>
    (spec.authorization as { acls: Acl[] }).acls.flatMap(({ operations, resource: { type, name, patternType } }) =>
      operations.map((each) => `${metadata.name} ${each} ${type} ${name} ${patternType ?? 'literal'}`),
    ),
  )
  // For Strimzi one may write out that reading and writing include the right to describe.
  const included = (right: string) =>
    !wanted.includes(right) &&
    / Describe topic /.test(right) &&
    wanted.some((each) => each.replace(/ (Read|Write) /, ' Describe ') === right)
  expect(given.filter((right) => !included(right)).sort()).toEqual([...new Set(wanted)].sort())
})

it('finds the dashboards and the alerts, which lie outside of the chart', () => {
  const files = (folder: string) => readdirSync(join(chart, 'files', folder))
  expect(files('grafana').filter((name) => name.endsWith('.json'))).not.toEqual([])
  const { groups } = parse(readFileSync(join(chart, 'files/prometheus/alerts.yml'), 'utf8')) as { groups: unknown[] }
  expect(groups).not.toEqual([])
})

it('has examples that are whole: a manifest and values for each operator', () => {
  const names = readdirSync(join(chart, '../examples'))
  for (const operatorName of ['strimzi', 'cloudnative-pg', 'altinity'])
    expect(names).toEqual(expect.arrayContaining([`${operatorName}.yaml`, `${operatorName}.values.yaml`]))
})
