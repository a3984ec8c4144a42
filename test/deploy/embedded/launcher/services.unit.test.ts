import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../../../deploy/embedded/launcher/config.js'
import {
  findProblems,
  serviceAddresses,
  serviceEnvironment,
  weirServices,
} from '../../../../deploy/embedded/launcher/services.js'
import { clickhousePart } from '../../../../deploy/embedded/servers/clickhouse.js'

let dataDir: string
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-services-'))
})
afterEach(() => rmSync(dataDir, { recursive: true }))

describe("Weir's own password for the embedded ClickHouse", () => {
  const file = () => join(dataDir, 'clickhouse-password')
  const password = () => new URL(serviceAddresses(readConfig({ DATA_DIR: dataDir })).CLICKHOUSE_URL).password

  it('is made once, also in a folder of an earlier version, and only its owner may read it', () => {
    const made = password()
    expect(made).toMatch(/^[0-9a-f]{48}$/)
    expect(readFileSync(file(), 'utf8').trim()).toBe(made)
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    expect(password()).toBe(made)
  })

  it('is made anew where a full disk left an empty file', () => {
    writeFileSync(file(), '')
    expect(password()).toMatch(/^[0-9a-f]{48}$/)
  })

  it('is the same for the engine and for the services, whatever password analysts have', () => {
    const env = { DATA_DIR: dataDir, CLICKHOUSE_PORT: '18123', CLICKHOUSE_PASSWORD: 'of-analysts' }
    const { CLICKHOUSE_URL } = serviceEnvironment(readConfig(env))
    expect(CLICKHOUSE_URL).toBe(`http://weir:${password()}@127.0.0.1:18123`)
    expect(clickhousePart({ dataDir, port: 18123 }).env).toMatchObject({ CLICKHOUSE_WEIR_PASSWORD: password() })
  })

  it('is for no ClickHouse but the embedded one', () => {
    const { CLICKHOUSE_URL } = serviceEnvironment(readConfig({ DATA_DIR: dataDir, CLICKHOUSE_URL: 'http://ch:8123' }))
    expect(CLICKHOUSE_URL).toBe('http://ch:8123')
  })
})

describe('a start', () => {
  const working = { ok: true }
  const broken = { ok: false, problem: 'it went back' }

  /** Whether each service counts as up, and what is said, where all of them answer this. */
  const withAnswer = async (status: number, body: unknown) => {
    const server = createServer((_, response) => response.writeHead(status).end(JSON.stringify(body)))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const given = readConfig({ DATA_DIR: dataDir })
    const own = { EDGE_PORT: port, INTEGRITY_PORT: port, SINK_PORT: port, DELIVERY_PORT: port }
    const config = { ...given, ports: { ...given.ports, ...own } }
    const isReady = await Promise.all(weirServices(config).map((each) => each.isReady()))
    const said = await findProblems(config)
    server.close()
    return { isReady, said }
  }

  it('waits until a service is ready', async () => {
    expect(await withAnswer(200, { status: 'ready' })).toEqual({ isReady: [true, true, true, true], said: [] })
    expect((await withAnswer(503, { status: 'not_ready', parts: { kafka: broken } })).isReady).toEqual([
      false,
      false,
      false,
      false,
    ])
    expect((await withAnswer(503, { status: 'not_ready' })).isReady).toEqual([false, false, false, false])
    expect((await withAnswer(404, 'no page')).isReady).toEqual([false, false, false, false])
  })

  it('does not wait for what only an operator can mend, and says what that is', async () => {
    const { isReady, said } = await withAnswer(503, { parts: { kafka: working, memory: broken } })
    expect(isReady).toEqual([false, false, true, false])
    expect(said).toContain('integrity  is not ready, memory: it went back')
  })

  it('asks the edge for its own parts only', async () => {
    const { isReady } = await withAnswer(503, { parts: { kafka: working, integrity: broken } })
    expect(isReady).toEqual([false, false, false, true])
  })
})
