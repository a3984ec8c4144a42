import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../../../deploy/embedded/launcher/config.js'
import { claimDataFolder, noteAddresses, operatorSystem } from '../../../../deploy/embedded/launcher/running-system.js'
import { nowhere } from '../../../../services/operator/config.js'

let dataDir: string

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-running-'))
})

afterEach(() => rmSync(dataDir, { recursive: true }))

it('gives a data folder to one launcher at a time', () => {
  const release = claimDataFolder(dataDir)
  expect(() => claimDataFolder(dataDir)).toThrow(`Weir already runs with the data folder ${dataDir}`)
  release()
  claimDataFolder(dataDir)()
})

it('says how to reach the system that has the data folder', () => {
  const release = claimDataFolder(dataDir)
  expect(() => claimDataFolder(dataDir)).toThrow('and is still starting')
  const forget = noteAddresses(readConfig({ DATA_DIR: dataDir, EDGE_PORT: '18080' }))
  expect(() => claimDataFolder(dataDir)).toThrow(
    `(process ${process.pid}), at http://127.0.0.1:18080 (its documentation: http://127.0.0.1:18080/docs); ` +
      `operate it by DATA_DIR='${dataDir}' npm run -s weir -- --help, or end it by kill ${process.pid}`,
  )
  forget()
  release()
})

it('takes over the data folder of a launcher that is gone', () => {
  claimDataFolder(dataDir)()
  writeFileSync(join(dataDir, 'run', 'launcher.json'), JSON.stringify({ pid: process.pid, identity: 'long ago' }))
  claimDataFolder(dataDir)()
})

describe("an operator's command", () => {
  const ports = { POSTGRES_PORT: '15432', KAFKA_PORT: '19092', EDGE_PORT: '18080' }
  const addressesFor = (env: Record<string, string> = {}) => operatorSystem({ DATA_DIR: dataDir, ...env }).variables

  it('finds the system that runs in the data folder, unless the environment says otherwise', () => {
    const release = claimDataFolder(dataDir)
    noteAddresses(readConfig({ DATA_DIR: dataDir, ...ports }))
    expect(addressesFor()).toEqual({
      KAFKA_BROKERS: '127.0.0.1:19092',
      SCHEMA_REGISTRY_URL: 'http://127.0.0.1:8081/apis/ccompat/v7',
      POSTGRES_URL: 'postgres://weir:weir@127.0.0.1:15432/weir',
      CLICKHOUSE_URL: expect.stringMatching(/^http:\/\/weir:[0-9a-f]{48}@127\.0\.0\.1:8123$/),
      EDGE_URL: 'http://127.0.0.1:18080',
      PEERS: 'integrity=http://127.0.0.1:8082,sink=http://127.0.0.1:8083,delivery=http://127.0.0.1:8084',
    })
    expect(addressesFor({ CLICKHOUSE_PORT: '8123' })).toEqual(addressesFor())
    expect(addressesFor({ CLICKHOUSE_PORT: '18123' }).CLICKHOUSE_URL).toBe('http://127.0.0.1:18123')
    expect(addressesFor({ POSTGRES_PORT: '25432' }).POSTGRES_URL).toContain(':25432/')
    expect(addressesFor({ POSTGRES_URL: 'postgres://db/weir' }).POSTGRES_URL).toBe('postgres://db/weir')
    expect(addressesFor({ EDGE_PORT: '18081' }).EDGE_URL).toBe('http://127.0.0.1:18081')
    expect(addressesFor({ EDGE_URL: 'https://edge' }).EDGE_URL).toBe('https://edge')
    expect(addressesFor({ EDGE_URL: 'https://edge' }).PEERS, 'of another edge').toBeUndefined()
    expect(addressesFor({ PEERS: 'sink=http://sink' }).PEERS, 'as the environment says').toBeUndefined()
    release()
  })

  const nothingHere = () => ({
    KAFKA_BROKERS: nowhere,
    SCHEMA_REGISTRY_URL: nowhere,
    POSTGRES_URL: nowhere,
    CLICKHOUSE_URL: nowhere,
    EDGE_URL: nowhere,
    NO_SYSTEM_IN: dataDir,
  })

  it('takes nobody who listens on the default ports for the system of a folder in which none runs', () => {
    expect(addressesFor()).toEqual(nothingHere())
    expect(addressesFor({ POSTGRES_URL: 'postgres://db/weir' })).toEqual({
      ...nothingHere(),
      POSTGRES_URL: 'postgres://db/weir',
    })
  })

  it('does not go by the note of a launcher that was killed', () => {
    noteAddresses(readConfig({ DATA_DIR: dataDir }))
    writeFileSync(join(dataDir, 'run', 'launcher.json'), JSON.stringify({ pid: process.pid, identity: 'long ago' }))
    expect(addressesFor()).toEqual(nothingHere())
  })

  it('names what is not of this folder, without passwords', () => {
    const elsewhereFor = (env: Record<string, string>) => operatorSystem({ DATA_DIR: dataDir, ...env }).elsewhere
    const release = claimDataFolder(dataDir)
    noteAddresses(readConfig({ DATA_DIR: dataDir, ...ports }))
    expect(elsewhereFor({})).toBeUndefined()
    expect(elsewhereFor(ports)).toBeUndefined()
    expect(elsewhereFor({ POSTGRES_URL: 'postgres://weir:secret@db/weir', KAFKA_PORT: '9092' })).toBe(
      'not the system of this folder, but as the environment says: ' +
        'KAFKA_BROKERS 127.0.0.1:9092, POSTGRES_URL postgres://weir@db/weir',
    )
    release()
  })
})
