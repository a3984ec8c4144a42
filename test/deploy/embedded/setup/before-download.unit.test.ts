import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import { identityOf } from '../../../../deploy/embedded/supervision/process-identity.mjs'
import { freePortVariables } from '../../../support/free-port-variables.js'

let clone: string
let tools: string
let env: Record<string, string>

// A bare clone, in which an npm that does nothing but say that it was called would begin the download.
beforeEach(async () => {
  clone = mkdtempSync(join(tmpdir(), 'weir-clone-'))
  for (const name of ['deploy', 'package.json', 'package-lock.json'])
    cpSync(join(packageRoot, name), join(clone, name), { recursive: true })
  writeFileSync(join(clone, 'npm.cjs'), `require('node:fs').writeFileSync('called', ''); process.exit(1)`)
  tools = join(clone, 'tools')
  mkdirSync(tools)
  tool('java', 'echo \'openjdk version "17.0.15" 2025-04-15\' >&2')
  tool('mvn', "echo 'Apache Maven 3.8.7'")
  for (const name of ['.', 'tools']) chmodSync(join(clone, name), 0o777)
  env = { ...(await freePortVariables()), npm_execpath: join(clone, 'npm.cjs') }
})

afterEach(() => rmSync(clone, { recursive: true }))

const tool = (name: string, script: string) =>
  writeFileSync(join(tools, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })

// Root may write anywhere, and has Java and Maven installed for it; so as root this is tried as nobody.
const asNobody = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []

const start = async (): Promise<{ lines: string[]; hasBegun: boolean }> => {
  const [command = '', ...args] = [...asNobody, process.execPath, join(clone, 'deploy/embedded/start.mjs')]
  const PATH = [tools, process.env.PATH].join(':')
  const { exitCode, stderr } = await execa(command, args, {
    env: { ...env, PATH, JAVA_HOME: undefined },
    reject: false,
  })
  expect(exitCode).toBe(1)
  return { lines: stderr.trim().split('\n'), hasBegun: existsSync(join(clone, 'called')) }
}

it('begins with the download when nothing is wrong', async () => {
  expect((await start()).hasBegun).toBe(true)
})

it('names before the download a tool that is too old, and a port that is in use', async () => {
  tool('mvn', "echo 'Apache Maven 3.5.4 (1edded0938998edf8bf061f1ceb3cfdeccf443fe)'")
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  env.SINK_PORT = String(port)
  const { lines, hasBegun } = await start()
  server.close()
  expect(hasBegun).toBe(false)
  expect(lines).toEqual([
    expect.stringMatching(/^Maven 3.5.4 is too old: Weir needs Maven 3.6.3 or later/),
    expect.stringMatching(new RegExp(`^Port ${port} is in use.*; end that, or set SINK_PORT to another one.$`)),
  ])
})

it('names before the download a variable that is wrong', async () => {
  env.SINK_PORT = 'many'
  expect(await start()).toEqual({
    lines: ['SINK_PORT must be a port from 1 to 65535, not "many"'],
    hasBegun: false,
  })
})

it('names before the download a data folder that cannot be written', async () => {
  mkdirSync(join(clone, 'locked'), { mode: 0o555 })
  env.DATA_DIR = join(clone, 'locked/data')
  const line = `The data folder ${env.DATA_DIR} cannot be used: it may not be written to. See to that, or set DATA_DIR to another folder.`
  expect(await start()).toEqual({ lines: [line], hasBegun: false })
})

it('says before the download that a Weir runs in the data folder', async () => {
  const run = join(clone, '.data/run')
  mkdirSync(run, { recursive: true })
  chmodSync(run, 0o777)
  writeFileSync(join(run, 'launcher.json'), JSON.stringify({ pid: process.pid, identity: identityOf(process.pid) }))
  const { lines, hasBegun } = await start()
  expect(hasBegun).toBe(false)
  expect(lines).toEqual([
    `Weir already runs with the data folder ${join(clone, '.data')} (process ${process.pid}), and is still starting; ` +
      `operate it by npm run -s weir -- --help, or end it by kill ${process.pid}`,
  ])
})

it('leaves to the launcher the ports that an earlier start left in use', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  env.SINK_PORT = String((server.address() as AddressInfo).port)
  const run = join(clone, '.data/run')
  mkdirSync(run, { recursive: true })
  chmodSync(run, 0o777)
  writeFileSync(join(run, 'sink.pid'), JSON.stringify({ pid: process.pid, identity: identityOf(process.pid) }))
  const { hasBegun } = await start()
  server.close()
  expect(hasBegun).toBe(true)
})
