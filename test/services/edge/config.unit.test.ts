import { expect, it } from 'vitest'
import { readPeers } from '#platform/health/peers.js'
import { readConfig } from '#platform/process/config.js'
import { catalogue } from '#schemas/catalogue.js'
import { configSchema, openOrgOf, operationsPortOf, withLimits } from '../../../services/edge/config.js'

it('has defaults for everything, and tells what is wrong', () => {
  const config = readConfig(configSchema, {})
  expect(config).toMatchObject({
    EDGE_PORT: 8080,
    BATCH_RECORDS: 500,
    BODY_LIMIT: 16_777_216,
    INTERACTIONS_REQUIRE_KEY: true,
  })
  expect(() => readConfig(configSchema, { BATCH_RECORDS: '8193', COURSES_LIMIT: '999' })).toThrow(
    /BATCH_RECORDS.*COURSES_LIMIT/,
  )
})

it('opens interactions only for an organisation that is named', () => {
  expect(openOrgOf({ INTERACTIONS_REQUIRE_KEY: true, INTERACTIONS_ORG: 'acme' })).toBeUndefined()
  expect(openOrgOf({ INTERACTIONS_REQUIRE_KEY: false, INTERACTIONS_ORG: 'acme' })).toBe('acme')
  expect(() => openOrgOf({ INTERACTIONS_REQUIRE_KEY: false, INTERACTIONS_ORG: '' })).toThrow('INTERACTIONS_ORG')
})

it('has a port for operators only where one is named, and not the public one', () => {
  expect(operationsPortOf({ EDGE_PORT: 8080 })).toBeUndefined()
  expect(operationsPortOf({ EDGE_PORT: 8080, OPERATIONS_PORT: 8090 })).toBe(8090)
  expect(() => operationsPortOf({ EDGE_PORT: 8080, OPERATIONS_PORT: 8080 })).toThrow('OPERATIONS_PORT must differ')
})

it('raises the limit of courses alone', () => {
  const raised = withLimits(catalogue, { COURSES_LIMIT: 5000 })
  expect([raised.uploads.get('courses')?.limit, catalogue.uploads.get('courses')?.limit]).toEqual([5000, 1000])
  expect([...raised.uploads.keys()]).toEqual([...catalogue.uploads.keys()])
})

it('reads its peers', () => {
  expect(readPeers('')).toEqual(new Map())
  expect(readPeers('integrity=http://127.0.0.1:8082,sink=http://sink:8083/')).toEqual(
    new Map([
      ['integrity', 'http://127.0.0.1:8082'],
      ['sink', 'http://sink:8083'],
    ]),
  )
  expect(() => readPeers('sink')).toThrow('PEERS must be like')
})
