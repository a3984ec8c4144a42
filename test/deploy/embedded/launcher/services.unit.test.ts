import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../../../deploy/embedded/launcher/config.js'
import { serviceAddresses, serviceEnvironment } from '../../../../deploy/embedded/launcher/services.js'
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
