// What the chart takes (values.schema.json), and which settings each service reads (settings.json): both from the declarations that
// docs/settings.md is made from, so that a setting is in the chart as soon as a service reads it, and a wrong one is refused by Helm.
import { layoutVariables } from '#ledger/layout/check-layout.js'
import type { ConfigSchema } from '#platform/process/config.js'
import { failPointVariables } from '#platform/process/fail-point.js'
import { mostGenerations } from '#schemas/version.js'
import { configSchema as delivery } from '../../services/delivery/config.js'
import { configSchema as edge } from '../../services/edge/config.js'
import { configSchema as integrity } from '../../services/integrity/config.js'
import { configSchema as operator } from '../../services/operator/config.js'
import { configSchema as sink } from '../../services/sink/config.js'

type Variables = ConfigSchema['properties']
type JsonSchema = Record<string, unknown>

/** Set by the templates themselves, or never in a pod. */
const isOfTheChart = (name: string): boolean =>
  /_(HOST|PORT)$|^(PEERS|TLS_CERT|TLS_KEY|EDGE_URL|CALLED_AS|NO_SYSTEM_IN)$/.test(name) || name in failPointVariables

const without = (variables: Variables, isLeftOut: (name: string) => boolean): Variables =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !isLeftOut(name)))

/** What each service reads of what may be set. Edge and integrity go by the layout that provisioning stored. */
const read: Record<string, Variables> = {
  edge: without(edge.properties, (name) => isOfTheChart(name) || name in layoutVariables),
  integrity: without(integrity.properties, (name) => isOfTheChart(name) || name in layoutVariables),
  sink: without(sink.properties, isOfTheChart),
  delivery: without(delivery.properties, isOfTheChart),
  operator: without(operator.properties, isOfTheChart),
}
const all: Variables = Object.assign({}, ...Object.values(read).reverse())

/** A value that can be given as a file is a secret, and so is this key. */
const isSecret = (name: string): boolean => `${name}_FILE` in all || name === 'WEIR_DEMO_KEY'
const isCertificate = (name: string): boolean => name.endsWith('_CA_FILE')
const isFile = (name: string): boolean => name.endsWith('_FILE')

export const settingsByReader = (): string =>
  `${JSON.stringify(Object.fromEntries(Object.entries(read).map(([reader, variables]) => [reader, Object.keys(variables).sort()])), null, 2)}\n`

const object = (properties: Record<string, JsonSchema>, required: readonly string[] = []): JsonSchema => ({
  type: 'object',
  additionalProperties: false,
  ...(required.length > 0 && { required }),
  properties,
})
const text = { type: 'string' }
const flag = { type: 'boolean' }
const count = (minimum: number): JsonSchema => ({ type: 'integer', minimum })
const words = { type: 'object', additionalProperties: text }
/** As Kubernetes has it; the API server checks what is inside. */
const anyObject = { type: 'object' }
const anyList = { type: 'array', items: { type: 'object' } }

const placeIn = (kind: 'secret' | 'configMap'): JsonSchema =>
  object({ [kind]: { ...text, minLength: 1 }, key: { ...text, minLength: 1 } }, [kind, 'key'])

/** Each setting once; the sections below refer to it. */
const definitions = {
  // Named in the description only: a value that is left out is not set, and the service takes its own default.
  settings: Object.fromEntries(
    Object.entries(without(all, (name) => isSecret(name) || isFile(name))).map(
      ([name, { default: usual, ...schema }]) => [
        name,
        { ...schema, description: schema.description + (usual === undefined || usual === '' ? '' : ` (${usual})`) },
      ],
    ),
  ),
  secrets: Object.fromEntries(
    Object.entries(all)
      .filter(([name, { type }]) => type === 'string' && (isCertificate(name) || !isFile(name)))
      .map(([name, { description }]) => [
        name,
        isCertificate(name)
          ? { description, oneOf: [placeIn('secret'), placeIn('configMap')] }
          : { description, ...placeIn('secret') },
      ]),
  ),
}

const sectionOf = (kind: keyof typeof definitions, variables: Variables, required: readonly string[] = []) =>
  object(
    Object.fromEntries(
      Object.keys(variables)
        .filter((name) => name in definitions[kind])
        .sort()
        .map((name) => [name, { $ref: `#/definitions/${kind}/${name}` }]),
    ),
    required,
  )
const component = (reader: string, more: Record<string, JsonSchema>): JsonSchema =>
  object({
    settings: sectionOf('settings', read[reader] ?? {}),
    secrets: sectionOf('secrets', read[reader] ?? {}),
    resources: anyObject,
    ...more,
  })
const scaled = (by: string) => ({
  replicas: count(1),
  imageTag: text,
  autoscaling: object({ enabled: flag, min: count(1), max: count(1), [by]: count(1) }),
})
const part = object({ ports: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 65535 } }, to: anyList })

export const valuesSchema = (): string => {
  const schema = {
    // The newest that Helm 3 reads.
    $schema: 'http://json-schema.org/draft-07/schema#',
    $comment: 'Made by npm run publish-schemas from deploy/helm/values-schema.ts: change it there.',
    ...object({
      image: object({
        repository: { ...text, minLength: 1 },
        tag: text,
        pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
        pullSecrets: anyList,
      }),
      settings: sectionOf('settings', all, [
        'KAFKA_BROKERS',
        'SCHEMA_REGISTRY_URL',
        'SUBMITTED_PARTITIONS',
        'ACCEPTED_PARTITIONS',
      ]),
      secrets: sectionOf('secrets', all, ['POSTGRES_URL', 'CLICKHOUSE_URL']),
      pod: object({
        labels: words,
        annotations: words,
        nodeSelector: words,
        tolerations: anyList,
        affinity: anyObject,
        priorityClassName: text,
        env: anyList,
      }),
      serviceAccount: object({ annotations: words }),
      edge: component('edge', {
        ...scaled('cpu'),
        drainSeconds: { type: 'integer', minimum: 0, maximum: 60 },
        service: object({
          type: { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] },
          port: { type: 'integer', minimum: 1, maximum: 65535 },
          annotations: words,
        }),
        tls: object({ secret: text }),
        ingress: object({ enabled: flag, className: text, host: text, tlsSecret: text, annotations: words }),
      }),
      integrity: component('integrity', {
        ...scaled('lag'),
        generation: { type: 'integer', minimum: 0, maximum: mostGenerations - 1 },
      }),
      sink: component('sink', scaled('lag')),
      delivery: component('delivery', { replicas: count(1), imageTag: text }),
      operator: component('operator', { waitSeconds: count(0), shell: object({ enabled: flag }) }),
      networkPolicy: object({
        enabled: flag,
        edgeFrom: anyList,
        operationsFrom: anyList,
        parts: object({ kafka: part, registry: part, postgres: part, clickhouse: part }),
        egress: anyList,
      }),
      monitoring: object({
        serviceMonitor: object({ enabled: flag, labels: words, interval: text }),
        alerts: object({ enabled: flag, labels: words }),
        dashboards: object({ enabled: flag, labels: words }),
      }),
      // Helm hands these to every chart that another one includes.
      global: anyObject,
    }),
    definitions,
  }
  return `${JSON.stringify(schema, null, 2)}\n`
}
