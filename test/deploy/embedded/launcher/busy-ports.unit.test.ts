import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { execa } from 'execa'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { answersAsWeir, findBusyPorts } from '../../../../deploy/embedded/launcher/busy-ports.mjs'
import { readConfig } from '../../../../deploy/embedded/launcher/config.js'
import { freePortVariables } from '../../../support/free-port-variables.js'

const server = createServer()

beforeEach(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
})

afterEach(() => {
  server.close()
})

it('names the port, who has it and the variable that moves it, and no other', async () => {
  const { port } = server.address() as AddressInfo
  const lines = await findBusyPorts(readConfig({ ...(await freePortVariables()), KAFKA_PORT: String(port) }))
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(`Port ${port} is in use`)
  expect(lines[0]).toMatch('set KAFKA_PORT')
  if (process.platform === 'linux') expect(lines[0]).toContain(`(process ${process.pid})`)
})

it('says in one line where another Weir runs that has the ports, and how to start beside it', async () => {
  const clone = await mkdtemp(join(tmpdir(), 'weir-other-'))
  await mkdir(join(clone, 'deploy/embedded'), { recursive: true })
  // A launcher whose one process has two ports.
  const part = `import { createServer } from 'node:net'
    const servers = [createServer(), createServer()]
    for (const server of servers) server.listen(0, '127.0.0.1', () => console.log(server.address().port))`
  await writeFile(
    join(clone, 'deploy/embedded/start.mjs'),
    `import { spawn } from 'node:child_process'
    const child = spawn(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(part)}], { stdio: 'inherit' })
    process.on('SIGTERM', () => child.kill())
    child.on('exit', () => process.exit())`,
  )
  const other = execa(process.execPath, ['deploy/embedded/start.mjs'], {
    cwd: clone,
    env: { DATA_DIR: 'elsewhere' },
    reject: false,
  })
  const printed: number[] = []
  for await (const line of createInterface(other.stdout)) if (printed.push(Number(line)) === 2) break
  const [kafka = 0, sink = 0] = printed
  const own = { KAFKA_PORT: String(kafka), SINK_PORT: String(sink) }
  const lines = await findBusyPorts(readConfig({ ...(await freePortVariables()), ...own }))
  other.kill()
  await other
  await rm(clone, { recursive: true })
  if (process.platform !== 'linux') return
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain(
    `with the data folder ${join(clone, 'elsewhere')} (process ${other.pid}) and has the ports ${kafka}, ${sink}; end it (kill ${other.pid}), or`,
  )
  expect(lines[0]).toMatch(/beside it: KAFKA_PORT=\d+ SINK_PORT=\d+ npm start$/)
})

it('knows an edge also where processes cannot be looked at, by its answer', async () => {
  const edge = createHttpServer((_, response) => response.end('{"info":{"title":"Weir"}}'))
  await once(edge.listen(0, '127.0.0.1'), 'listening')
  const { port } = edge.address() as AddressInfo
  expect(await answersAsWeir(port)).toBe(true)
  expect(await answersAsWeir((server.address() as AddressInfo).port)).toBe(false)
  edge.close()
})

it('does not need the port of a part that is elsewhere', async () => {
  const { port } = server.address() as AddressInfo
  const env = { ...(await freePortVariables()), KAFKA_PORT: String(port), KAFKA_BROKERS: 'elsewhere:9092' }
  expect(await findBusyPorts(readConfig(env))).toEqual([])
})

it.each([
  ['--help', 0, 'stdout'],
  ['--port=9080', 2, 'stderr'],
] as const)('starts nothing where it is called with %s, and says what can be chosen', async (option, code, where) => {
  const called = await execa(process.execPath, ['deploy/embedded/start.mjs', option], { reject: false })
  expect(called.exitCode).toBe(code)
  expect(called[where]).toMatch(/EDGE_PORT {2,}8080/)
})
