import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { claimPort, freePorts } from '../../../../deploy/embedded/servers/ports.js'

/** What another process is answered, which ends at once. */
const elsewhere = async (question: string): Promise<unknown> => {
  const program = `import * as ports from './deploy/embedded/servers/ports.ts'; console.log(await ports.${question})`
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout)
}

test('a port that one process was given is not given to another, though no server listens there yet', async () => {
  const [mine] = await freePorts(1)

  expect(await elsewhere(`claimPort(${mine})`)).toBe(false)
})

test('a port is free again when the process that had it has ended', async () => {
  const [theirs] = (await elsewhere('freePorts(1)')) as [number]

  expect(await claimPort(theirs)).toBe(true)
})

test('a port that a server listens on is not given', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')

  expect(await claimPort((server.address() as AddressInfo).port)).toBe(false)
  server.close()
})
