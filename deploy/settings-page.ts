// docs/settings.md, made from what reads the settings: each variable with its readers, its default and its meaning.
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { layoutVariables } from '#ledger/layout/check-layout.js'
import { retentionVariables } from '#ledger/retention.js'
import type { ConfigSchema } from '#platform/process/config.js'
import { failPointVariables } from '#platform/process/fail-point.js'
import { packageRoot } from '#platform/process/package-root.js'
import { partVariables } from '#platform/process/part-variables.js'
import { configSchema as delivery } from '../services/delivery/config.js'
import { configSchema as edge } from '../services/edge/config.js'
import { lagVariables } from '../services/edge/limits/lag.js'
import { loadVariables } from '../services/edge/limits/load.js'
import { rateVariables } from '../services/edge/limits/rates.js'
import { networkVariables } from '../services/edge/network/network.js'
import { configSchema as integrity } from '../services/integrity/config.js'
import { configSchema as operator } from '../services/operator/config.js'
import { configSchema as sink } from '../services/sink/config.js'
import { readConfig } from './embedded/launcher/config.js'

/** One row of the page. `fallback` is the default; without one it is empty. */
type Setting = { name: string; readers: string[]; fallback: string; meaning: string }

/** The variables that no service reads, and what a part reads otherwise than the services: name, readers, default, meaning. */
const elsewhere = rowsOf(`
DATA_DIR | launcher | .data | folder of all data, logs and the demo key; relative to the clone
KAFKA_PORT | launcher, compose | 9092 | port of the Kafka that is started
REGISTRY_PORT | launcher, compose | 8081 | port of the schema registry that is started
POSTGRES_PORT | launcher, compose | 5432 | port of the Postgres that is started
CLICKHOUSE_PORT | launcher, embedded, compose | 8123 | port of the ClickHouse that is started
PROMETHEUS_PORT | compose | 9090 | port of the Prometheus of \`--profile observability\`
GRAFANA_PORT | compose | 3000 | port of the Grafana of \`--profile observability\`
GRAFANA_PASSWORD | compose | weir | password of the user \`admin\` of that Grafana; set it before the first start
EDGE_URL | compose | http://edge:8080 | where refused records are sent again, inside the containers
WEIR_IMAGE | compose | weir:0.1.0 | the image of Weir's own services
WEIR_COMMIT | compose | unknown | the commit that the image is built from, which \`weir --version\` and \`/healthz\` say
SUBNET | compose | 10.213.57.0/24 | the network of the containers. This network and its gateway, by which this machine reaches them, may speak plain HTTP to the edge
POSTGRES_PASSWORD | compose | weir | password of the Postgres that is started; set it before the first start
CLICKHOUSE_PASSWORD | compose | weir | password of the ClickHouse that is started; set it before the first start
CLICKHOUSE_PASSWORD | embedded | – | password that analysts need at the embedded ClickHouse, whose user \`default\` only reads; without it they need none
CLICKHOUSE_WEIR_PASSWORD | embedded | – | set by the launcher: password of the user \`weir\`, who may write, from \`clickhouse-password\` in the data folder
CLICKHOUSE_HOST | embedded | 127.0.0.1 | set by the launcher: address of the embedded ClickHouse
CLICKHOUSE_PATH | embedded | – | set by the launcher: data folder of the embedded ClickHouse
CLICKHOUSE_ENGINE_CONFIG | embedded | – | another file of settings for the engine than its own; for tests
UV_THREADPOOL_SIZE | embedded | – | set by the launcher: how many queries the embedded ClickHouse runs at once, at least 4
JAVA_HOME | embedded | – | where Java is, if it is not the one on the \`PATH\``)

const forTests = rowsOf(`
WEIR_TEST_STACK | tests | – | \`docker\`: tests run on the official images instead of the embedded parts
WEIR_TEST_DEPTH | tests | – | \`deep\`: journeys run in their full sizes; set by \`npm run test:deep\`
UPLOAD_ROWS | tests | – | how many rows are uploaded while the uploader, the edge, integrity and Kafka are killed
WAITING_RECORDS | tests | – | how many records are uploaded in random order, to wait for each other, while services are killed
MODEL_RUNS | tests | – | how many histories the model draws
MODEL_SEED | tests | – | the seed from which the model draws its histories
DASHBOARD_PICTURES | tests | – | folder for pictures of the dashboards, drawn from what a real Prometheus answers in \`npm run test:deep -- test/deploy/observability\`
FUZZ_SEED | tests | – | the seed of the requests that are generated from the OpenAPI document`)

/** What the embedded parts read beside the services, under the same name and with the same meaning. */
const embeddedToo = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'LOG_LEVEL']

const parts = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'POSTGRES_URL', 'CLICKHOUSE_URL', 'KAFKA_REPLICATION']
const limits = { ...rateVariables, ...loadVariables, ...lagVariables }

/** The sections of the page, by what a reader looks for. What fits into none is under the last. */
const sections: { title: string; about?: string; has: (name: string) => boolean }[] = [
  { title: 'Where the parts are', has: (name) => parts.includes(name) },
  { title: 'How wide a system is', has: (name) => name in layoutVariables },
  {
    title: 'TLS, logins and secrets',
    about:
      'For parts of your own. A variable with a twin `…_FILE` can be given as a file that holds its value, as Docker and Kubernetes hand out secrets; both at once are refused. Files are read when a process starts. What a service says that is not let in is in [operations.md](operations.md#tls-logins-and-secrets).',
    has: (name) => name in partVariables,
  },
  {
    title: 'Addresses and ports, HTTP and HTTPS',
    has: (name) => name in networkVariables || /_(PORT|HOST)$|^(PEERS|SUBNET|EDGE_URL)$/.test(name),
  },
  {
    title: 'Limits and load',
    has: (name) => name in limits || /^(BATCH|BODY|COURSES|MAX|MIN|KNOWN)_|_GATHER_|^VERDICT_TIMEOUT/.test(name),
  },
  { title: 'Retention', has: (name) => name in retentionVariables || name.includes('RETENTION') },
  {
    title: 'For tests only',
    about: 'Never set these where data counts.',
    has: (name) => name in failPointVariables || forTests.some((each) => each.name === name),
  },
  { title: 'Everything else', has: () => true },
]

/** Every setting there is, each with all of its readers. */
export const settings = (): Setting[] => {
  const rows: Setting[] = []
  const add = ({ name, readers, fallback, meaning }: Setting): void => {
    const same = rows.find((row) => row.name === name && row.fallback === fallback)
    if (!same) rows.push({ name, readers: [...readers], fallback, meaning })
    else same.readers.push(...readers.filter((reader) => !same.readers.includes(reader)))
  }
  for (const [reader, { properties }] of Object.entries<ConfigSchema>({ edge, integrity, sink, delivery, operator }))
    for (const [name, variable] of Object.entries(properties))
      add({ name, readers: [reader], fallback: String(variable.default ?? ''), meaning: meaningOf(variable) })
  for (const setting of [...elsewhere, ...forTests]) add(setting)
  for (const [reader, taken] of [
    ['launcher', takenByLauncher()],
    ['compose', takenByCompose()],
  ] as const)
    for (const [name, fallback] of taken) {
      // An empty default leaves the service its own.
      const row = rows.find((each) => each.name === name && (fallback === '' || each.fallback === fallback))
      if (!row) throw new Error(`${reader} reads ${name}: say in deploy/settings-page.ts what it means there`)
      if (!row.readers.includes(reader)) row.readers.push(reader)
    }
  for (const row of rows)
    if (embeddedToo.includes(row.name) && row.readers.includes('edge')) row.readers.push('embedded')
  return rows
}

/** The names alone, for "weir doctor", which may not import the services that read them. */
export const knownVariablesFile = (): string => {
  const names = [...new Set(settings().map(({ name }) => name))].sort()
  return `// Made by npm run publish-schemas from the settings of all services: every variable that something of Weir reads.
export const knownVariables: readonly string[] = [
${names.map((name) => `  '${name}',`).join('\n')}
]
`
}

export const settingsPage = (): string => {
  const left = settings()
  const tables = sections.map(({ title, about, has }) => {
    const rows = left.filter(({ name }) => has(name))
    for (const row of rows) left.splice(left.indexOf(row), 1)
    const table = rows.map(
      ({ name, readers, fallback, meaning }) =>
        `| \`${name}\` | ${readers.join(', ')} | ${fallback ? `\`${fallback}\`` : '–'} | ${withMarks(meaning)} |`,
    )
    return [
      `## ${title}`,
      ...(about ? [about, ''] : []),
      '| variable | read by | default | meaning |',
      '| --- | --- | --- | --- |',
      ...table,
    ]
  })
  return `${[introduction, ...tables.map((lines) => lines.join('\n'))].join('\n\n')}\n`
}

const introduction = `# Settings

<!-- Made by npm run publish-schemas from services/*/config.ts and deploy/settings-page.ts: change the descriptions there. -->

Everything is set by environment variables, which a process reads once, when it starts. A wrong one is named, and the process ends. An
empty variable counts as not set. \`npm start\` hands its whole environment on to the services, so every variable can be set there.
\`npm run weir\` acts on the system that runs in \`DATA_DIR\`; where none runs there it refuses, unless the parts are named
(\`POSTGRES_URL\`, \`POSTGRES_PORT\` and so on), and on standard error it says which of them are not this folder's.

*Read by* names the services, the operator's command, \`launcher\` for \`npm start\`, \`embedded\` for its set-up and the parts that it starts,
and \`compose\` for what \`docker-compose.yml\` passes on from your shell (for any other variable there, write a
\`docker-compose.override.yml\`).`

function rowsOf(lines: string): Setting[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const [name = '', readers = '', fallback = '', meaning = ''] = line.split(' | ')
      return { name, readers: readers.split(', '), fallback: fallback.replace('–', ''), meaning }
    })
}

/** The description, and the values that are taken where it does not name them. */
function meaningOf({ description, enum: words, minimum = 0, maximum }: ConfigSchema['properties'][string]): string {
  const meaning = description.trim().replace(/\.$/, '')
  if (words && words.length < 8 && !meaning.includes(words[0] ?? '')) return `${meaning}: ${words.join(', ')}`
  if (maximum !== undefined) return `${meaning} (${minimum} to ${maximum})`
  return minimum > 1 ? `${meaning} (at least ${minimum})` : meaning
}

/** What the launcher asks of its environment, and what it takes where nothing is set. */
function takenByLauncher(): [string, string][] {
  const names = new Set<string>()
  const config = readConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }))
  const fallbacks: Record<string, unknown> = {
    ...config.ports,
    ...config.addresses,
    EDGE_HOST: config.edgeHost,
    DATA_DIR: relative(packageRoot, config.dataDir),
  }
  return [...names].map((name) => [name, String(fallbacks[name] ?? '')])
}

function takenByCompose(): [string, string][] {
  const compose = readFileSync(join(packageRoot, 'docker-compose.yml'), 'utf8')
  return [...compose.matchAll(/\$\{([A-Z_]+):-([^}]*)\}/g)].map(([, name = '', fallback = '']) => [name, fallback])
}

/** Names of variables, and addresses, in the type that a reader expects of them. */
function withMarks(meaning: string): string {
  return meaning
    .split(/(`[^`]*`|\[[^\]]*\]\([^)]*\))/)
    .map((piece, n) =>
      n % 2 ? piece : piece.replaceAll(/(?<![\w`])([A-Z]+(?:_[A-Z0-9]+)+|\/(?:metrics|readyz))\b/g, '`$1`'),
    )
    .join('')
}
