import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { execa } from 'execa'
import { afterEach, expect, it, vi } from 'vitest'
import { openPrivateNetwork } from './private-network.js'

afterEach(() => {
  vi.unstubAllEnvs()
})

it('says in one line why there is none', async () => {
  vi.stubEnv('PATH', tmpdir())
  expect(await openPrivateNetwork()).toEqual({
    whyNot: expect.stringMatching(/^(no private network: .+|only Linux .+)$/),
  })
})

it('has its own loopback, on which a port is free that is taken outside', async ({ skip }) => {
  const network = await openPrivateNetwork()
  if ('whyNot' in network) return skip(network.whyNot)
  const outside = createServer().listen(0, '127.0.0.1')
  try {
    await once(outside, 'listening')
    const { port } = outside.address() as AddressInfo
    const listen = `
      const net = require('node:net')
      net.createServer((socket) => socket.end('hello')).listen(${port}, '127.0.0.1', () =>
        net.connect(${port}, '127.0.0.1').on('data', (text) => { console.log(String(text)); process.exit() }))`
    const [command = '', ...args] = [...network.enter, process.execPath, '-e', listen]
    expect((await execa(command, args)).stdout).toBe('hello')
  } finally {
    outside.close()
    await network.close()
  }
})
