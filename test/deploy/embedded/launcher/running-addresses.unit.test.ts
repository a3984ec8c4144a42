import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readConfig } from '../../../../deploy/embedded/launcher/config.js'
import { noteAddresses, operatorAddresses } from '../../../../deploy/embedded/launcher/running-addresses.js'

const DATA_DIR = mkdtempSync(join(tmpdir(), 'weir-addresses-'))
afterAll(() => rmSync(DATA_DIR, { recursive: true }))

it('finds the system that runs in the data folder, unless the environment says otherwise', () => {
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
