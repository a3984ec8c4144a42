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

it('has its own loopback, and its own ports', async ({ skip }) => {
  const network = await openPrivateNetwork()
  if ('whyNot' in network) return skip(network.whyNot)
  const listen = `
    const net = require('node:net')
    net.createServer((socket) => socket.end('hello')).listen(22, '127.0.0.1', () =>
      net.connect(22, '127.0.0.1').on('data', (text) => { console.log(String(text)); process.exit() }))`
  try {
    const [command = '', ...args] = [...network.enter, process.execPath, '-e', listen]
    expect((await execa(command, args)).stdout).toBe('hello')
  } finally {
    await network.close()
  }
})
