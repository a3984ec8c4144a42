// The chart on a real API server, with real controllers and the restricted pod security level enforced. Nodes are pretended by kwok: a pod
// there is "running" and "ready" at once, and a job "completes", without any process. So what is shown here is what Kubernetes makes of the
// chart's objects, and not that provisioning or a service works.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { packageRoot } from '#platform/process/package-root.js'
import { catalogue } from '#schemas/catalogue.js'
import { sinkGroupOf } from '#schemas/derive/names.js'
import { groupsOf } from '#schemas/derive/topics.js'
import { mostGenerations } from '#schemas/version.js'
import { eventually } from '../support/eventually.js'
import { type Cluster, openModule, startCluster, whyNoKubernetes } from '../support/kubernetes/cluster.js'
import { chart, readRendered, render, valueSets, valuesFile } from './helm/render.js'

type Listed<T> = { items: T[] }
type Meta = { name: string; creationTimestamp: string; labels?: Record<string, string> }
type Pod = {
  metadata: Meta
  spec: { nodeName?: string; containers: { name: string; image: string; env: { name: string; value?: string }[] }[] }
  status: { phase: string; conditions?: { type: string; status: string }[] }
}
type Deployment = { metadata: Meta; spec: { replicas: number }; status: { readyReplicas?: number; replicas?: number } }
type Budget = { metadata: Meta; status: { expectedPods: number; disruptionsAllowed: number } }
type Policy = { metadata: Meta; spec: { podSelector: { matchLabels: Record<string, string> } } }
type Slice = { metadata: Meta; endpoints: { addresses: string[] }[] | null; ports: { port: number }[] }
type KubeDocument = { apiVersion: string; kind: string; metadata: Meta }

const whyNot = await whyNoKubernetes()
const namespace = 'weir'
let cluster: Cluster

// The versions whose definitions the objects are held against.
const definitions = [
  {
    module: 'github.com/kedacore/keda/v2@v2.18.1',
    folder: 'config/crd/bases',
    names: ['keda.sh_scaledobjects', 'keda.sh_triggerauthentications'],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    folder: 'example/prometheus-operator-crd',
    names: ['monitoring.coreos.com_servicemonitors', 'monitoring.coreos.com_prometheusrules'],
  },
  {
    module: 'github.com/cloudnative-pg/cloudnative-pg@v1.27.0',
    folder: 'config/crd/bases',
    names: ['postgresql.cnpg.io_clusters', 'postgresql.cnpg.io_databases'],
  },
]

// Half an hour where the programs have to be built first.
beforeAll(async () => {
  if (whyNot) return
  cluster = await startCluster({ nodes: 3 })
  for (const { module, folder, names } of definitions) {
    const dir = await openModule(module)
    for (const name of names)
      await cluster.api(
        'POST',
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        documentsOf(readFileSync(join(dir, folder, `${name}.yaml`), 'utf8'))[0],
      )
  }
  await cluster.api('POST', '/api/v1/namespaces', {
    metadata: { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
  })
  // Until the definitions are served.
  await eventually(() => list('/apis/keda.sh/v1alpha1', 'scaledobjects'))
  await eventually(() => list('/apis/monitoring.coreos.com/v1', 'prometheusrules'))
  await eventually(() => list('/apis/postgresql.cnpg.io/v1', 'databases'))
}, 3_600_000)
afterAll(() => cluster?.stop())

const documentsOf = (text: string): KubeDocument[] =>
  parseAllDocuments(text, { version: '1.1' })
    .map((document) => document.toJS() as KubeDocument | null)
    .filter((each) => each !== null)

const list = async <T>(group: string, kind: string, selector = ''): Promise<T[]> => {
  const asked = selector && `?labelSelector=${encodeURIComponent(selector)}`
  return (await cluster.api<Listed<T>>('GET', `${group}/namespaces/${namespace}/${kind}${asked}`)).items
}
const podsOf = (selector = 'app.kubernetes.io/instance=weir') => list<Pod>('/api/v1', 'pods', selector)
const componentsOf = (pods: readonly Pod[]) =>
  pods.map(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] ?? '').sort()
const withValues = (...names: readonly string[]) => names.flatMap((name) => ['--values', valuesFile(name)])
const wait = ['--namespace', namespace, '--wait', '--timeout', '5m']
const twoOfEach = ['edge', 'edge', 'integrity', 'integrity', 'sink', 'sink']

/** A test, or its one line of why it cannot be here. */
const tried = (name: string, work: () => Promise<void>) =>
  it(name, { timeout: 600_000 }, async ({ skip }: TestContext) => {
    if (whyNot) skip(whyNot)
    await work()
  })

describe('what the API server is sent', () => {
  for (const set of Object.keys(valueSets)) {
    tried(`is what is kept of the rendering ${set}`, async () => {
      expect(render(cluster.helmBinary, set)).toBe(readRendered(set))
    })

    tried(`has in ${set} no field that Kubernetes, KEDA or Prometheus' operator does not know`, async () => {
      for (const document of documentsOf(readRendered(set))) await tryOut(document)
    })
  }

  tried('has examples that CloudNativePG and Kubernetes know every field of', async () => {
    for (const name of ['cloudnative-pg', 'apicurio'])
      for (const document of documentsOf(readFileSync(join(packageRoot, `deploy/helm/examples/${name}.yaml`), 'utf8')))
        await tryOut(document)
  })

  tried('lets KEDA ask for the consumer groups of the generation that integrity decides', async () => {
    type Scaled = { kind: string; spec: { triggers: { metadata: { consumerGroup: string } }[] } }
    const groupsAfter = async (changes: number) => {
      const options = ['--kube-version', '1.34.2', '--set', `integrity.generation=${changes}`]
      const text = await cluster.helm('template', 'weir', chart, ...withValues('own-tls', 'every-option'), ...options)
      const scaled = (documentsOf(text) as unknown as Scaled[]).filter(({ kind }) => kind === 'ScaledObject')
      return scaled.flatMap(({ spec }) => spec.triggers.map(({ metadata }) => metadata.consumerGroup)).sort()
    }
    const sinks = [sinkGroupOf(), sinkGroupOf(catalogue.interaction.type)]
    for (const changes of [0, 1, mostGenerations - 6, mostGenerations - 1]) {
      const { uploads, interactions } = groupsOf(catalogue, changes)
      expect(await groupsAfter(changes)).toEqual([uploads.groupId, interactions.groupId, ...sinks].sort())
    }
  })

  tried('names a field that nobody knows, so that the tests above can fail', async () => {
    const [policy] = documentsOf(readRendered('own-tls')).filter(({ kind }) => kind === 'NetworkPolicy')
    await expect(tryOut({ ...policy, spec: { podSelectr: {} } } as never)).rejects.toThrow(/podSelectr/)
  })
})

describe('a release, from its installation to its end', () => {
  tried('is installed with every pod admitted at the restricted level', async () => {
    const notes = await cluster.helm('install', 'weir', chart, ...wait, ...withValues(...(valueSets.operators ?? [])))
    expect(notes).toContain(
      'kubectl exec -n weir deploy/weir-edge -- node dist/services/operator/main.js keys issue --org acme',
    )
    const pods = await podsOf()
    expect(componentsOf(pods)).toEqual(twoOfEach)
    expect(pods.map(({ status }) => status.phase)).toEqual(pods.map(() => 'Running'))
    // The two of each on nodes, and in zones, of their own.
    const places = pods.map((pod) => `${componentsOf([pod])} on ${pod.spec.nodeName}`)
    expect(new Set(places).size).toBe(places.length)
  })

  tried('provisions before anything else, and leaves nothing of that', async () => {
    type Event = { reason: string; involvedObject: { kind: string; name: string }; firstTimestamp: string }
    const completed = (await list<Event>('/api/v1', 'events')).filter(
      ({ reason, involvedObject }) => involvedObject.kind === 'Job' && reason === 'Completed',
    )
    expect(completed.map(({ involvedObject }) => involvedObject.name)).toEqual(['weir-provision'])
    for (const { metadata } of await list<Deployment>('/apis/apps/v1', 'deployments'))
      expect(Date.parse(metadata.creationTimestamp)).toBeGreaterThanOrEqual(
        Date.parse(completed[0]?.firstTimestamp ?? ''),
      )
    await eventually(async () => expect(await list('/apis/batch/v1', 'jobs')).toEqual([]))
    const accounts = await list<{ metadata: Meta }>('/api/v1', 'serviceaccounts')
    expect(accounts.map(({ metadata }) => metadata.name).sort()).toEqual(['default', 'weir'])
  })

  tried('lets one pod of each go at a time', async () => {
    await eventually(async () => {
      const budgets = await list<Budget>('/apis/policy/v1', 'poddisruptionbudgets')
      expect(
        budgets.map(({ metadata, status }) => [metadata.name, status.expectedPods, status.disruptionsAllowed]),
      ).toEqual([
        ['weir-edge', 2, 1],
        ['weir-integrity', 2, 1],
        ['weir-sink', 2, 1],
      ])
    })
  })

  tried('covers every pod with the policy of its own component', async () => {
    const policies = await list<Policy>('/apis/networking.k8s.io/v1', 'networkpolicies')
    const covered = await Promise.all(
      policies.map(async ({ metadata, spec }) => {
        const labels = Object.entries(spec.podSelector.matchLabels).map(([name, value]) => `${name}=${value}`)
        const pods = await podsOf(labels.join(','))
        expect(new Set(componentsOf(pods))).toEqual(new Set([metadata.name.replace('weir-', '')]))
        return pods.map((pod) => pod.metadata.name)
      }),
    )
    expect(covered.flat().sort()).toEqual((await podsOf()).map(({ metadata }) => metadata.name).sort())
  })

  tried('has Services that find the pods, and one port for requests', async () => {
    await eventually(async () => {
      const slices = await list<Slice>('/apis/discovery.k8s.io/v1', 'endpointslices')
      const found = slices.map(({ metadata, endpoints, ports }) => [
        metadata.labels?.['kubernetes.io/service-name'],
        endpoints?.length,
        ports.map(({ port }) => port),
      ])
      expect(found.sort()).toEqual([
        ['weir-edge', 2, [8080]],
        ['weir-edge-operations', 2, [9090]],
        ['weir-integrity-operations', 2, [9090]],
        ['weir-sink-operations', 2, [9090]],
      ])
    })
  })

  tried('is upgraded to another image and other settings, pod after pod', async () => {
    const more = ['--set', 'image.tag=9.9.9,settings.LOG_LEVEL=debug,integrity.replicas=3']
    await cluster.helm('upgrade', 'weir', chart, ...wait, ...withValues(...(valueSets.operators ?? [])), ...more)
    await eventually(async () => {
      const pods = await podsOf()
      expect(componentsOf(pods)).toEqual([...twoOfEach, 'integrity'].sort())
      const [images, levels] = [new Set<string>(), new Set<string | undefined>()]
      for (const { spec } of pods)
        for (const { image, env } of spec.containers) {
          images.add(image)
          levels.add(env.find(({ name }) => name === 'LOG_LEVEL')?.value)
        }
      expect([...images]).toEqual(['weir:9.9.9'])
      expect([...levels]).toEqual(['debug'])
    }, 120_000)
  })

  tried('keeps the edges at the old version while the others are upgraded', async () => {
    const more = ['--set', 'image.tag=9.9.10,edge.imageTag=9.9.9']
    await cluster.helm('upgrade', 'weir', chart, ...wait, ...withValues(...(valueSets.operators ?? [])), ...more)
    await eventually(async () => {
      const images = (await podsOf()).map((pod) => `${componentsOf([pod])} ${pod.spec.containers[0]?.image}`)
      expect([...new Set(images)].sort()).toEqual(['edge weir:9.9.9', 'integrity weir:9.9.10', 'sink weir:9.9.10'])
    }, 120_000)
  })

  tried('takes every option: instances by load, what Prometheus and Grafana read, a pod for operators', async () => {
    const names = [...(valueSets.operators ?? []), 'every-option']
    await cluster.helm('upgrade', 'weir', chart, ...wait, ...withValues(...names))
    const namesOf = async (group: string, kind: string) =>
      (await list<{ metadata: Meta }>(group, kind)).map(({ metadata }) => metadata.name).sort()
    expect(await namesOf('/apis/keda.sh/v1alpha1', 'scaledobjects')).toEqual(['weir-integrity', 'weir-sink'])
    expect(await namesOf('/apis/keda.sh/v1alpha1', 'triggerauthentications')).toEqual(['weir-integrity', 'weir-sink'])
    expect(await namesOf('/apis/autoscaling/v2', 'horizontalpodautoscalers')).toEqual(['weir-edge'])
    expect(await namesOf('/apis/monitoring.coreos.com/v1', 'servicemonitors')).toEqual(['weir'])
    expect(await namesOf('/apis/monitoring.coreos.com/v1', 'prometheusrules')).toEqual(['weir'])
    expect((await namesOf('/api/v1', 'configmaps')).filter((name) => name.startsWith('weir-dashboard-'))).not.toEqual(
      [],
    )
    expect(await namesOf('/apis/apps/v1', 'deployments')).toContain('weir-operator')
    // Who counts the load decides, and an upgrade leaves their number alone.
    const integrity = (await list<Deployment>('/apis/apps/v1', 'deployments')).find(
      ({ metadata }) => metadata.name === 'weir-integrity',
    )
    expect(integrity?.spec.replicas).toBe(2)
  })

  tried('refuses what cannot work, and leaves the release as it is', async () => {
    const before = await cluster.helm('history', 'weir', '--namespace', namespace, '--output', 'json')
    const refused = [
      ['integrity.replicas=25', /integrity.replicas is 25, and settings.SUBMITTED_PARTITIONS is 24/],
      ['settings.MAX_LAG=3', /MAX_LAG is not allowed/],
      ['settings.KAFKA_TLS=maybe', /KAFKA_TLS: Invalid type. Expected: boolean, given: string/],
      ['edge.settings.TRUST_PROXY=', /API keys would cross the network in the clear/],
    ] as const
    for (const [value, sentence] of refused)
      await expect(
        cluster.helm('upgrade', 'weir', chart, ...wait, ...withValues(...(valueSets.operators ?? [])), '--set', value),
      ).rejects.toThrow(sentence)
    expect(await cluster.helm('history', 'weir', '--namespace', namespace, '--output', 'json')).toBe(before)
  })

  tried('goes back to what was installed first', async () => {
    await cluster.helm('rollback', 'weir', '1', ...wait)
    const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string }
    await eventually(async () => {
      const pods = await podsOf()
      expect(componentsOf(pods)).toEqual(twoOfEach)
      expect([...new Set(pods.map(({ spec }) => spec.containers[0]?.image))]).toEqual([`weir:${version}`])
    }, 120_000)
    expect(await list('/apis/keda.sh/v1alpha1', 'scaledobjects')).toEqual([])
  })

  tried('is gone without a trace when it is uninstalled', async () => {
    await cluster.helm('uninstall', 'weir', ...wait)
    await eventually(async () => {
      const kinds = Object.values(paths).filter(({ group }) => !group.includes('cnpg'))
      const left = await Promise.all(
        [{ group: '/api/v1', kind: 'pods' }, ...kinds].map(({ group, kind }) =>
          list<{ metadata: Meta }>(group, kind, 'app.kubernetes.io/instance=weir'),
        ),
      )
      expect(left.flat().map(({ metadata }) => metadata.name)).toEqual([])
    }, 120_000)
  })
})

const paths: Record<string, { group: string; kind: string }> = Object.fromEntries(
  [
    ['ServiceAccount', '/api/v1', 'serviceaccounts'],
    ['Service', '/api/v1', 'services'],
    ['ConfigMap', '/api/v1', 'configmaps'],
    ['Deployment', '/apis/apps/v1', 'deployments'],
    ['Job', '/apis/batch/v1', 'jobs'],
    ['PodDisruptionBudget', '/apis/policy/v1', 'poddisruptionbudgets'],
    ['NetworkPolicy', '/apis/networking.k8s.io/v1', 'networkpolicies'],
    ['Ingress', '/apis/networking.k8s.io/v1', 'ingresses'],
    ['HorizontalPodAutoscaler', '/apis/autoscaling/v2', 'horizontalpodautoscalers'],
    ['ScaledObject', '/apis/keda.sh/v1alpha1', 'scaledobjects'],
    ['TriggerAuthentication', '/apis/keda.sh/v1alpha1', 'triggerauthentications'],
    ['ServiceMonitor', '/apis/monitoring.coreos.com/v1', 'servicemonitors'],
    ['PrometheusRule', '/apis/monitoring.coreos.com/v1', 'prometheusrules'],
    ['Cluster', '/apis/postgresql.cnpg.io/v1', 'clusters'],
    ['Database', '/apis/postgresql.cnpg.io/v1', 'databases'],
  ].map(([name = '', group = '', kind = '']) => [name, { group, kind }]),
)

/** Has the API server check an object, unknown fields too, without keeping it. */
async function tryOut(document: KubeDocument): Promise<void> {
  const place = paths[document.kind]
  if (!place) throw new Error(`say in this test where the API has ${document.kind}`)
  const path = `${place.group}/namespaces/${namespace}/${place.kind}?dryRun=All&fieldValidation=Strict`
  await cluster.api('POST', path, document)
}
