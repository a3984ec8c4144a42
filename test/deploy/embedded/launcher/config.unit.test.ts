import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfig } from '../../../../deploy/embedded/launcher/config.js'
import { serviceEnvironment } from '../../../../deploy/embedded/launcher/services.js'

describe('the launcher’s config', () => {
  it('has the documented ports and addresses when nothing is set', () => {
    const config = readConfig({})
    expect(config.ports).toEqual({
      EDGE_PORT: 8080,
      INTEGRITY_PORT: 8082,
      SINK_PORT: 8083,
      DELIVERY_PORT: 8084,
      KAFKA_PORT: 9092,
      REGISTRY_PORT: 8081,
      POSTGRES_PORT: 5432,
      CLICKHOUSE_PORT: 8123,
    })
    expect(config.addresses).toEqual({
      KAFKA_BROKERS: '127.0.0.1:9092',
      SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081/apis/ccompat/v7',
      POSTGRES_URL: 'postgres://weir:weir@127.0.0.1:5432/weir',
      CLICKHOUSE_URL: 'http://127.0.0.1:8123',
    })
    expect(config.dataDir).toMatch(/\/\.data$/)
  })

  it('uses a part whose address is given, and neither starts it nor needs its port', () => {
    const config = readConfig({ KAFKA_BROKERS: 'a:9092,b:9092', POSTGRES_URL: 'postgres://u:p@db/weir' })
    expect(config.addresses.KAFKA_BROKERS).toBe('a:9092,b:9092')
    expect(config.ownPorts).toEqual([
      'REGISTRY_PORT',
      'CLICKHOUSE_PORT',
      'INTEGRITY_PORT',
      'SINK_PORT',
      'DELIVERY_PORT',
      'EDGE_PORT',
    ])
  })

  it('reads an address with a password from a file, and hands on the address instead of the file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'weir-config-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'postgres-url')
    writeFileSync(file, 'postgres://u:p@db/weir\n')
    const config = readConfig({ POSTGRES_URL_FILE: file, CLICKHOUSE_URL: 'http://ch:8123' })
    expect(config.ownPorts).not.toContain('POSTGRES_PORT')
    expect(serviceEnvironment(config)).toMatchObject({ POSTGRES_URL: 'postgres://u:p@db/weir', POSTGRES_URL_FILE: '' })
    expect(() => readConfig({ POSTGRES_URL_FILE: file, POSTGRES_URL: 'postgres://db/weir' })).toThrow(
      'POSTGRES_URL and POSTGRES_URL_FILE are both set: unset one of them',
    )
    expect(() => readConfig({ CLICKHOUSE_URL_FILE: join(folder, 'none') })).toThrow(
      `CLICKHOUSE_URL_FILE names ${join(folder, 'none')}, which cannot be read (ENOENT)`,
    )
  })

  it('takes an empty variable for one that is not set', () => {
    const config = readConfig({ EDGE_PORT: '', KAFKA_BROKERS: ' ', DATA_DIR: '' })
    expect(config).toEqual(readConfig({}))
  })

  it('reports every problem at once', () => {
    const read = () =>
      readConfig({ EDGE_PORT: 'many', SINK_PORT: '70000', KAFKA_PORT: '8123', CLICKHOUSE_URL: 'somewhere' })
    expect(read).toThrow('EDGE_PORT must be a port from 1 to 65535, not "many"')
    expect(read).toThrow('SINK_PORT must be a port from 1 to 65535, not "70000"')
    expect(read).toThrow('CLICKHOUSE_URL is not a URL')
  })

  it('refuses one port for two', () => {
    expect(() => readConfig({ KAFKA_PORT: '8080' })).toThrow('KAFKA_PORT and EDGE_PORT are both 8080')
  })
})
