import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { kafkaProperties } from '../../deploy/embedded/servers/kafka.js'
import { configSchema as delivery } from '../../services/delivery/config.js'
import { configSchema as edge } from '../../services/edge/config.js'
import { configSchema as integrity } from '../../services/integrity/config.js'
import { configSchema as operator } from '../../services/operator/config.js'
import { configSchema as sink } from '../../services/sink/config.js'

type Service = {
  image: string
  build?: { context: string; dockerfile: string }
  command?: string[]
  environment?: Record<string, unknown>
  healthcheck?: { test?: string[]; disable?: boolean }
  depends_on?: Record<string, { condition: string }>
  restart: string
  volumes?: string[]
}

const root = join(import.meta.dirname, '../..')
const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))
const compose = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Service>
  volumes: Record<string, unknown>
}
const services = Object.entries(compose.services)
const schemas: Record<string, { properties: object }> = { edge, integrity, sink, delivery, provision: operator }
const ours = services.filter(([, { build }]) => build)

// The host of an image may have a port, as in host:5000/name:tag. The tag stands after the last slash.
const pinned = /^(?:[^:@\s]+(?::\d+\/[^:@\s]+)?):(?!latest)[\w.-]*\d+\.\d+[\w.-]*$/

describe('docker-compose.yml', () => {
  it('runs every service of Weir from the one image', () => {
    expect(ours.map(([name]) => name).sort()).toEqual(Object.keys(schemas).sort())
    expect(new Set(ours.map(([, { image }]) => image)).size).toBe(1)
    for (const [name, { build, command }] of ours) {
      expect(existsSync(join(root, build?.dockerfile ?? '')), name).toBe(true)
      const main = command?.[1]?.replace(/^dist\/(.*)\.js$/, '$1.ts') ?? ''
      expect(existsSync(join(root, main)), `${name}: ${main}`).toBe(true)
    }
  })

  it.each(ours)('gives %s only variables that its config reads', (name, { environment }) => {
    const known = Object.keys(schemas[name]?.properties ?? {})
    expect(Object.keys(environment ?? {}).filter((variable) => !known.includes(variable))).toEqual([])
  })

  it.each(ours)('tells %s where every part is that it reads the address of', (name, { environment }) => {
    const addresses = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL', 'POSTGRES_URL', 'CLICKHOUSE_URL']
    const needed = addresses.filter((variable) => variable in (schemas[name]?.properties ?? {}))
    expect(Object.keys(environment ?? {})).toEqual(expect.arrayContaining(needed))
  })

  it.each(services)('pins the image of %s', (_, { image }) =>
    expect(image.replace(/^\$\{\w+:-(.*)\}$/, '$1')).toMatch(pinned),
  )

  it.each(ours)('gives %s no right that it does not need', (_, service) =>
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    }),
  )

  it.each(services.filter(([name]) => name !== 'provision'))(
    'checks the health of %s and restarts it',
    (_, service) => {
      expect(service.healthcheck?.test?.length).toBeGreaterThan(1)
      expect(service.restart).toBe('unless-stopped')
    },
  )

  it('waits only for services that there are, and for health only where it is checked', () => {
    for (const [name, { depends_on }] of services) {
      for (const [other, { condition }] of Object.entries(depends_on ?? {})) {
        const awaited = compose.services[other]
        expect(awaited, `${name} waits for ${other}`).toBeDefined()
        if (condition === 'service_healthy') expect(awaited?.healthcheck?.test, other).toBeDefined()
        if (condition === 'service_completed_successfully') expect(awaited?.restart, other).toBe('no')
      }
    }
  })

  it('acknowledges messages when they are on the disk, as the embedded Kafka does, since no other broker has them', () => {
    const embedded = kafkaProperties({ port: 1, controllerPort: 2, logDir: '/log' }).split('\n')
    const flushes = compose.services.kafka?.environment?.KAFKA_LOG_FLUSH_INTERVAL_MESSAGES
    expect(embedded).toContain(`log.flush.interval.messages=${flushes}`)
  })

  it('keeps the data of each part in a volume of its own', () => {
    const used = services.flatMap(([, { volumes }]) => (volumes ?? []).map((volume) => volume.split(':')[0]))
    expect(used.sort()).toEqual(Object.keys(compose.volumes).sort())
  })
})

describe('deploy/Dockerfile', () => {
  const lines = read('deploy/Dockerfile').split('\n')
  const words = (instruction: string) =>
    lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.split(/\s+/).slice(1))

  const imageCopies = lines
    .slice(lines.findLastIndex((line) => line.startsWith('FROM ')))
    .filter((line) => line.startsWith('COPY '))
    .map((line) => line.split(/\s+/).slice(1))

  it('builds in stages, each from a pinned image', () => {
    const images = words('FROM').map(([image = '']) => image)
    expect(images.length).toBeGreaterThan(1)
    for (const image of images) expect(image).toMatch(pinned)
  })

  it('does not run as root', () => {
    const last = lines.findLastIndex((line) => line.startsWith('FROM '))
    const user = lines.slice(last).findLast((line) => line.startsWith('USER '))
    expect(user).toBe('USER node')
  })

  it('installs exactly the lockfile, and no development package in the end', () => {
    const installs = lines.filter((line) => line.startsWith('RUN npm ')).filter((line) => line.includes(' ci'))
    expect(installs).toHaveLength(2)
    expect(installs.at(-1)).toContain('--omit=dev')
  })

  it('checks its health', () => expect(words('HEALTHCHECK')).toHaveLength(1))

  it('copies only what is there, and what .dockerignore lets through', () => {
    const sources = words('COPY').flatMap((copied) => (copied[0]?.startsWith('--from=') ? [] : copied.slice(0, -1)))
    const allowed = read('.dockerignore')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []))
    expect(sources.length).toBeGreaterThan(0)
    for (const source of sources) {
      expect(existsSync(join(root, source)), source).toBe(true)
      expect(allowed, source).toContain(source.split('/')[0])
    }
  })

  it('has every folder of migrations in the image, where the sources have it', () => {
    const copied = imageCopies.flatMap(([from, to = '']) => (from === to ? [to] : []))
    const folders = new Set(filesIn('services', '.sql').map((file) => dirname(file)))
    expect(folders.size).toBeGreaterThan(0)
    expect([...folders].filter((folder) => !copied.some((path) => `${folder}/`.startsWith(`${path}/`)))).toEqual([])
  })

  it('has no fake in the image', () => {
    const compiled = imageCopies.flatMap(([from, source = '']) =>
      from === '--from=build' ? [source.replace('/app/dist/', '')] : [],
    )
    expect(compiled).toContain('services')
    // The console is put together from what its page imports, and downloads are packages: both have no sources in the image.
    const sources = compiled.filter((folder) => existsSync(join(root, folder)))
    expect(sources.flatMap((folder) => filesIn(folder, '.fake.ts'))).toEqual([])
  })
})
