import { randomInt, randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { parse } from 'yaml'
import { packageRoot } from '#platform/process/package-root.js'
import { freePorts } from '../../../deploy/embedded/servers/ports.js'
import { cannotHere, type Engine } from './engine.js'

type ComposeFile = { services: Record<string, { image: string; ulimits?: { nofile: number } }> }

/** docker-compose.yml with a project, a network and ports of its own: a system that somebody runs on this machine stays as it is. */
export const openCompose = async (engine: Engine) => {
  const found = await execa(join(packageRoot, 'deploy/containers/compose.sh'), { env: engine.env, reject: false })
  const whyNot = found.exitCode === cannotHere ? found.stderr : undefined
  if (found.failed && whyNot === undefined) throw new Error(`no Compose was found: ${found.stderr}`)
  const [program = '', ...first] = existsSync(found.stdout) ? [found.stdout] : found.stdout.split(' ')

  const file = parse(readFileSync(join(packageRoot, 'docker-compose.yml'), 'utf8'), { merge: true }) as ComposeFile
  const override = join(tmpdir(), `compose-${randomUUID()}.yml`)
  await writeFile(override, JSON.stringify(await withinLimits(file)))
  const [edge, kafka, registry, clickhouse, postgres] = await freePorts(5)
  const variables = {
    SUBNET: `10.213.${randomInt(60, 250)}.0/24`,
    EDGE_PORT: String(edge),
    KAFKA_PORT: String(kafka),
    REGISTRY_PORT: String(registry),
    CLICKHOUSE_PORT: String(clickhouse),
    POSTGRES_PORT: String(postgres),
  }
  const files = ['-f', 'docker-compose.yml', '-f', override]
  const project = `weir-test-${randomUUID().slice(0, 8)}`

  const run = async (words: string[], more: Record<string, string> = {}): Promise<string> => {
    const env = { ...engine.env, ...variables, ...more }
    return (await execa(program, [...first, '-p', project, ...files, ...words], { cwd: packageRoot, env })).stdout
  }
  return {
    /** Why there is no Compose on this machine, where there is none. */
    whyNot,
    run,
    network: `${project}_default`,
    imageOf: (service: string): string => file.services[service]?.image ?? '',
    urls: {
      edge: `http://127.0.0.1:${edge}`,
      broker: `127.0.0.1:${kafka}`,
      registry: `http://127.0.0.1:${registry}/apis/ccompat/v7`,
      clickhouse: `http://weir:weir@127.0.0.1:${clickhouse}`,
    },
    close: async (): Promise<void> => {
      if (whyNot === undefined) await run(['down', '--volumes', '--timeout', '20'])
      await rm(override, { force: true })
    },
  }
}

/** Not every machine lets a container open as many files as docker-compose.yml wants for ClickHouse: then as many as it lets. */
const withinLimits = async ({ services }: ComposeFile) => {
  const { stdout } = await execa('sh', ['-c', 'ulimit -Hn'])
  const limited = Object.entries(services).filter(([, { ulimits }]) => ulimits && ulimits.nofile > Number(stdout))
  return {
    services: Object.fromEntries(limited.map(([name]) => [name, { ulimits: { nofile: Number(stdout) } }])),
  }
}
