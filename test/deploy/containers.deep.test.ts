// The image is built and docker-compose.yml started as they stand: on the official images where this machine reaches them, and
// otherwise on stand-ins, of which containers/stand-ins.ts says how they differ.
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry'
import { execa } from 'execa'
import { Kafka, logLevel } from 'kafkajs'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type ClickHouse, createClickHouse } from '#platform/clickhouse.js'
import { thisBuild } from '#platform/health/build.js'
import { packageRoot } from '#platform/process/package-root.js'
import { eventually } from '../support/eventually.js'
import { keepUploading } from '../support/system/keep-uploading.js'
import { readyzOf } from '../support/system/readiness.js'
import { createUploader } from '../support/system/uploader.js'
import { openCompose } from './containers/compose.js'
import { type Engine, openEngine } from './containers/engine.js'
import { makeStandIns } from './containers/stand-ins.js'

const { version, commit } = thisBuild()
const image = `weir:${version}`
const newer = 'weir:next'
const services = ['edge', 'integrity', 'sink']
const parts = ['kafka', 'postgres', 'registry', 'clickhouse']
const textOf = (file: string): string => readFileSync(join(packageRoot, file), 'utf8')
const minutes = (count: number): number => count * 60_000

let whyNot: string | undefined
let engine: Engine
const docker = (...words: string[]) => engine.docker(...words)

beforeAll(async () => {
  const found = await openEngine()
  if ('whyNot' in found) {
    whyNot = found.whyNot
    return
  }
  engine = found
  const built = `--build-arg=WEIR_COMMIT=${commit}`
  await docker('build', '--quiet', '--network=host', '--file=deploy/Dockerfile', built, `--tag=${image}`, packageRoot)
}, minutes(30))
afterAll(() => engine?.close(), minutes(2))
beforeEach(({ skip }) => {
  if (whyNot !== undefined) skip(whyNot)
})

describe('the image', () => {
  const inImage = (...words: string[]) => docker('run', '--rm', '--network=none', image, ...words)

  it('says which version and commit it is', async () => {
    const said = await inImage('node', 'dist/services/operator/main.js', '--version')
    expect(said).toBe(`weir ${version}, commit ${commit}`)
    const labels = JSON.parse(await docker('image', 'inspect', '--format={{json .Config.Labels}}', image))
    expect(labels).toMatchObject({
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': commit,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    })
  })

  it('has what the services load, and nothing else', async () => {
    const files = (await inImage('find', '/app', '-not', '-type', 'd')).split('\n')
    expect(files).toEqual(expect.arrayContaining(['/app/LICENSE', '/app/commit', '/app/dist/console/index.html']))
    const foreign = /\.map$|\.ts$|^\/app\/(clients|deploy|docs|schemas|test|dist\/deploy|\.)|\/\.env/
    expect(files.filter((file) => foreign.test(file))).toEqual([])
    const has = (name: string) => files.some((file) => file.startsWith(`/app/node_modules/${name}/`))
    expect(Object.keys(JSON.parse(textOf('package.json')).dependencies).filter((name) => !has(name))).toEqual([])
    expect(Object.keys(JSON.parse(textOf('package.json')).devDependencies).filter(has)).toEqual([])
  })

  it('has its packages in one layer, and adds 40 MB at most to its base', async () => {
    const sizeOf = async (name: string) => Number(await docker('image', 'inspect', '--format={{.Size}}', name))
    const [, base = ''] = /^FROM (\S+)/m.exec(textOf('deploy/Dockerfile')) ?? []
    const added = (await sizeOf(image)) - (await sizeOf(base))
    expect(added).toBeGreaterThan(5_000_000)
    expect(added).toBeLessThan(40_000_000)
    const layers = (await docker('history', '--human=false', '--format={{.Size}}', image)).split('\n').map(Number)
    expect(layers.filter((size) => size > added * 0.8 && size < added)).toHaveLength(1)
  })

  it('is a part of a release, beside the packages, an SBOM and the checksums of all', async () => {
    const out = await mkdtemp(join(tmpdir(), 'weir-release-'))
    onTestFinished(() => rm(out, { recursive: true }))
    await execa({ cwd: packageRoot, env: engine.env })`npm run release -- --dry-run --out ${out}`
    expect(await readdir(out)).toEqual(
      expect.arrayContaining([
        'CHANGES.md',
        `weir-client-${version}.tgz`,
        `weir-image-${version}.tar.gz`,
        `weir-sbom-${version}.json`,
        `weir-upload-${version}.tgz`,
      ]),
    )
    const sums = await execa({ cwd: out })`sha256sum --check SHA256SUMS`
    expect(sums.stdout.split('\n')).toHaveLength((await readdir(out)).length - 1)
    expect(await docker('load', '--input', join(out, `weir-image-${version}.tar.gz`))).toContain(image)
    const sbom = JSON.parse(await readFile(join(out, `weir-sbom-${version}.json`), 'utf8'))
    const names = sbom.components.map(({ name }: { name: string }) => name)
    expect(names).toContain('kafkajs')
    expect(names).not.toContain('vitest')
  })
})

describe('docker-compose.yml', () => {
  let compose: Awaited<ReturnType<typeof openCompose>>
  let analyst: ClickHouse
  let subscriber: Awaited<ReturnType<typeof subscribe>>
  let key = ''
  const acknowledged: string[] = []

  beforeAll(async () => {
    if (whyNot !== undefined) return
    compose = await openCompose(engine)
    if (compose.whyNot !== undefined) return
    const images = Object.fromEntries(parts.map((part) => [part, compose.imageOf(part)]))
    if (!engine.hasOfficialImages) await makeStandIns(engine, image, images)
    // On a machine that is too busy a part may be given up as unhealthy; then it is started again.
    await eventually(() => compose.run(['up', '--detach', '--no-build']), minutes(15))
    await isReady()
    const issue = ['node', 'dist/services/operator/main.js', 'keys', 'issue', '--org', 'acme', '--json']
    key = JSON.parse(await compose.run(['run', '--rm', '-T', 'provision', ...issue])).key
    analyst = createClickHouse(compose.urls.clickhouse)
    subscriber = await subscribe(compose.urls.broker, compose.urls.registry)
  }, minutes(30))
  afterAll(async () => {
    await analyst?.close()
    await subscriber?.stop()
    await compose?.close()
  }, minutes(5))
  beforeEach(({ skip }) => {
    if (compose.whyNot !== undefined) skip(compose.whyNot)
  })

  const stateOf = async (service: string, format: string) =>
    docker('inspect', `--format=${format}`, await compose.run(['ps', '--all', '--quiet', service]))
  const isHealthy = (service: string) =>
    eventually(async () => expect(await stateOf(service, '{{.State.Health.Status}}')).toBe('healthy'), minutes(3))
  const isReady = () =>
    eventually(async () => expect(await readyzOf(compose.urls.edge)).toMatchObject({ httpStatus: 200 }), minutes(3))

  /** Uploads while something is done to the system, and a little longer. */
  const underLoad = async (work: () => Promise<unknown>): Promise<void> => {
    const load = keepUploading(createUploader(compose.urls.edge, key, { answerWithin: 60_000 }))
    const nextIsTaken = async () => {
      const soFar = load.acknowledged.length
      await eventually(() => expect(load.acknowledged.length).toBeGreaterThan(soFar), minutes(3))
    }
    await nextIsTaken()
    await work()
    await nextIsTaken()
    await load.stop()
    acknowledged.push(...load.acknowledged)
  }
  const nothingIsLost = () =>
    eventually(async () => {
      const rows = await analyst.query<{ id: string }>('select toString(shop_id) as id from weir.shops order by id')
      expect(rows.map(({ id }) => id)).toEqual([...acknowledged].sort())
      expect([...subscriber.ids].sort()).toEqual([...acknowledged].sort())
    }, minutes(3))

  it.each(services)('runs %s as a normal user without any right, on files that it cannot change', async (service) => {
    const exec = (...words: string[]) => compose.run(['exec', '-T', service, ...words])
    const status = await exec('cat', '/proc/1/status')
    const fields = Object.fromEntries(status.split('\n').map((line) => line.split(/:\s+/)))
    expect(fields).toMatchObject({ CapEff: '0000000000000000', CapBnd: '0000000000000000', NoNewPrivs: '1' })
    expect(fields.Uid?.split('\t')).toEqual(['1000', '1000', '1000', '1000'])
    await expect(exec('touch', '/tmp/x')).rejects.toThrow('Read-only file system')
    await expect(exec('touch', '/app/x')).rejects.toThrow(/Read-only file system|Permission denied/)
  })

  it('says which version and commit it runs', async () => {
    expect(await (await fetch(`${compose.urls.edge}/healthz`)).json()).toEqual({ status: 'ok', version, commit })
  })

  it('takes uploads, which analysts and subscribers outside see', async () => {
    await underLoad(async () => {})
    await nothingIsLost()
  })

  it.each([...parts, ...services])('loses nothing when %s is restarted', async (service) => {
    await underLoad(async () => {
      await compose.run(['restart', service])
      await isHealthy(service)
      await isReady()
    })
    await nothingIsLost()
  })

  it.each(services)('ends %s in good order when it is told to', async (service) => {
    await compose.run(['stop', service])
    expect(await stateOf(service, '{{.State.ExitCode}}')).toBe('0')
    await compose.run(['start', service])
    await isHealthy(service)
  })

  it('starts from the image alone, is healthy by its own check, and ends in good order as the first process', async () => {
    const rights = ['--read-only', '--cap-drop=ALL', '--security-opt=no-new-privileges']
    const variables = ['KAFKA_BROKERS=kafka:19092', 'SCHEMA_REGISTRY_URL=http://registry:8080/apis/ccompat/v7']
    const urls = ['POSTGRES_URL=postgres://weir:weir@postgres/weir', 'CLICKHOUSE_URL=http://weir:weir@clickhouse:8123']
    const env = [...variables, ...urls].map((each) => `--env=${each}`)
    const main = ['node', 'dist/services/edge/main.js']
    const id = await docker('run', '--detach', `--network=${compose.network}`, ...rights, ...env, image, ...main)
    onTestFinished(async () => void (await docker('rm', '--force', id)))
    const state = (format: string) => docker('inspect', `--format={{.State.${format}}}`, id)
    await eventually(async () => expect(await state('Health.Status')).toBe('healthy'), minutes(2))
    await docker('stop', id)
    expect(await state('ExitCode')).toBe('0')
  })

  it('loses nothing when its image is replaced by a newer one', async () => {
    const change = `sed -i 's/"version": "${version}"/"version": "99.0.0"/' package.json`
    const input = `FROM ${image}\nUSER root\nRUN ${change}\nUSER node\n`
    await execa({ env: engine.env, input })`docker build --quiet --network=host --tag=${newer} -`
    await underLoad(async () => {
      await compose.run(['up', '--detach', '--no-build'], { WEIR_IMAGE: newer })
      for (const service of services) await isHealthy(service)
    })
    for (const service of services) expect(await stateOf(service, '{{.Config.Image}}')).toBe(newer)
    expect(await (await fetch(`${compose.urls.edge}/healthz`)).json()).toMatchObject({ version: '99.0.0' })
    await nothingIsLost()
  })
})

/** What a team outside would run: the ids of all shops that were accepted. */
const subscribe = async (broker: string, registryUrl: string) => {
  const registry = new SchemaRegistry({ host: registryUrl })
  // While Kafka is away it goes on trying.
  const kafka = new Kafka({
    brokers: [broker],
    logLevel: logLevel.NOTHING,
    retry: { retries: 100, maxRetryTime: 1_000 },
  })
  const consumer = kafka.consumer({ groupId: randomUUID() })
  const ids = new Set<string>()
  await consumer.connect()
  await consumer.subscribe({ topic: 'weir.accepted.shops', fromBeginning: true })
  await consumer.run({
    eachMessage: async ({ message: { value } }) => {
      if (value) ids.add(((await registry.decode(value)) as { shop_id: string }).shop_id)
    },
  })
  return { ids, stop: () => consumer.disconnect() }
}
