import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findBusyPorts } from '../../../../deploy/embedded/launcher/busy-ports.js'
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

it('does not need the port of a part that is elsewhere', async () => {
  const { port } = server.address() as AddressInfo
  const env = { ...(await freePortVariables()), KAFKA_PORT: String(port), KAFKA_BROKERS: 'elsewhere:9092' }
  expect(await findBusyPorts(readConfig(env))).toEqual([])
})
