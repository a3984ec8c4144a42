// What a pod of the chart runs, without a pod: the command and the environment of each container, as Helm rendered them, on a running
// system. Only what a cluster would put there is put in: addresses, ports, the files of Secrets.
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { packageRoot } from '#platform/process/package-root.js'
import { answersHttp, freePorts } from '../../../deploy/embedded/servers/ports.js'
import { makeCertificate } from '../../services/edge/network/certificates.js'
import { eventually } from '../../support/eventually.js'
import { system } from '../../support/system/system.js'
import { readRendered } from './render.js'

type Probe = { httpGet: { path: string } }
type Container = {
  args: string[]
  env: { name: string; value?: string }[]
  startupProbe: Probe
  readinessProbe: Probe
}
type Workload = { kind: string; metadata: { name: string }; spec: { template: { spec: { containers: Container[] } } } }

const folder = await mkdtemp(join(tmpdir(), 'weir-pods-'))
afterAll(() => rm(folder, { recursive: true }))
const at = (path: string) => join(folder, path)
mkdirSync(at('etc/weir'), { recursive: true })
mkdirSync(at('etc/weir-tls'))
writeFileSync(at('etc/weir/POSTGRES_URL'), system.env.POSTGRES_URL)
writeFileSync(at('etc/weir/CLICKHOUSE_URL'), `${system.env.CLICKHOUSE_URL}\n`)
const { cert, key } = await makeCertificate('weir-edge')
writeFileSync(at('etc/weir-tls/tls.crt'), cert)
writeFileSync(at('etc/weir-tls/tls.key'), key)

const containerOf = (name: string): Container => {
  const documents = parseAllDocuments(readRendered('own-tls')).map((each) => each.toJS() as Workload | null)
  const [found] = documents.flatMap((each) =>
    each?.metadata.name === name && /Deployment|Job/.test(each.kind) ? each.spec.template.spec.containers : [],
  )
  if (!found) throw new Error(`there is no ${name} in the rendering`)
  return found
}

/** The container's environment and nothing else, as in a pod. */
const start = async (name: string) => {
  const container = containerOf(name)
  const [port = 0, operations = 0] = await freePorts(2)
  const here: Record<string, string> = {
    KAFKA_BROKERS: system.env.KAFKA_BROKERS,
    SCHEMA_REGISTRY_URL: system.env.SCHEMA_REGISTRY_URL,
  }
  const env = Object.fromEntries(
    container.env
      // The system that runs here was made with other partitions than the chart has.
      .filter((each) => !each.name.endsWith('_PARTITIONS'))
      .map((each) => [
        each.name,
        here[each.name] ??
          (each.value ?? '')
            .replace(/^\/etc\//, `${at('etc')}/`)
            .replace(/^8080$/, String(port))
            .replace(/^9090$/, String(operations)),
      ]),
  )
  const [command = '', ...args] = container.args
  const child = execa(command === 'node' ? process.execPath : command, args, {
    cwd: packageRoot,
    env,
    extendEnv: false,
    reject: false,
    all: true,
    forceKillAfterDelay: false,
  })
  return { container, child, page: (probe: Probe) => `http://127.0.0.1:${operations}${probe.httpGet.path}` }
}

it('provisions, also where all is there already', async () => {
  const { child } = await start('weir-provision')
  const { exitCode, all } = await child
  expect(exitCode, all).toBe(0)
})

it.each(['weir-edge', 'weir-integrity', 'weir-sink'])(
  'starts %s, whose probes answer, and which stops in good order',
  async (name) => {
    const { container, child, page } = await start(name)
    const ended = once(child, 'exit')
    const output: string[] = []
    child.all?.on('data', (text: Buffer) => output.push(text.toString()))
    try {
      for (const probe of [container.startupProbe, container.readinessProbe])
        await eventually(async () => expect(await answersHttp(page(probe)), output.join('')).toBe(true), 120_000)
    } finally {
      child.kill('SIGTERM')
    }
    expect(await ended, output.join('')).toEqual([0, null])
  },
)
