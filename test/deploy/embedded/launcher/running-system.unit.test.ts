import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readConfig } from '../../../../deploy/embedded/launcher/config.js'
import {
  claimDataFolder,
  noteAddresses,
  operatorAddresses,
} from '../../../../deploy/embedded/launcher/running-system.js'

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

it('finds the system that runs in the data folder, unless the environment says otherwise', () => {
  const DATA_DIR = dataDir
  expect(operatorAddresses({ DATA_DIR }).POSTGRES_URL).toContain(':5432/')

  const forget = noteAddresses(
    readConfig({ DATA_DIR, POSTGRES_PORT: '15432', KAFKA_PORT: '19092', EDGE_PORT: '18080' }),
  )
  expect(operatorAddresses({ DATA_DIR })).toMatchObject({
    KAFKA_BROKERS: '127.0.0.1:19092',
    EDGE_URL: 'http://127.0.0.1:18080',
  })
  expect(operatorAddresses({ DATA_DIR }).POSTGRES_URL).toContain(':15432/')
  expect(operatorAddresses({ DATA_DIR, POSTGRES_PORT: '25432' }).POSTGRES_URL).toContain(':25432/')
  expect(operatorAddresses({ DATA_DIR, POSTGRES_URL: 'postgres://db/weir' }).POSTGRES_URL).toBe('postgres://db/weir')

  expect(operatorAddresses({ DATA_DIR, EDGE_PORT: '18081' }).EDGE_URL).toBe('http://127.0.0.1:18081')
  expect(operatorAddresses({ DATA_DIR, EDGE_URL: 'https://edge' }).EDGE_URL).toBe('https://edge')

  forget()
  expect(operatorAddresses({ DATA_DIR }).POSTGRES_URL).toContain(':5432/')
})
