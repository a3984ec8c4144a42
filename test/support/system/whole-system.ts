import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type Addresses, readConfig } from '../../../deploy/embedded/launcher/config.js'
import { edgeUrl, serviceEnvironment } from '../../../deploy/embedded/launcher/services.js'
import { openLog, tailOf } from '../../../deploy/embedded/supervision/log-file.js'
import { startContainers } from '../containers.js'
import { freePortVariables } from '../free-port-variables.js'
import { endProcessesWith } from './left-behind.js'

const UP_WITHIN_MS = 540_000
const DOWN_WITHIN_MS = 180_000

export type WholeSystem = {
  edgeUrl: string
  demoKey: string
  /** What the services were told, and what tells another launcher or command to use the same system. */
  env: Record<string, string> & Addresses
  dataDir: string
  launcherPid: number
}

/**
 * Everything that `npm start` starts, on free ports; in the folder that is given, or in one that is removed when the system
 * stops. Variables that are given reach its services; the address of a part among them keeps that part from being started.
 * Run from this clone, or from the one that is given. `inside` is where the launcher runs, when that is elsewhere: a command
 * to put before its own, and what the folder is called there.
 */
export const startWholeSystem = async (
  given: {
    clone?: string
    dataDir?: string
    inside?: { dataDir: string; enter: string[] }
    env?: Record<string, string>
  } = {},
): Promise<{ system: WholeSystem; stop: () => Promise<void> }> => {
  const containers = process.env.WEIR_TEST_STACK === 'docker' ? await startContainers() : undefined
  const dataDir = given.dataDir ?? (await mkdtemp(join(tmpdir(), 'weir-system-')))
  const env = {
    ...(await freePortVariables()),
    ...containers?.env,
    // Receivers of webhooks in tests are on this machine.
    WEBHOOK_ALLOW: '127.0.0.0/8',
    ...given.env,
    DATA_DIR: given.inside?.dataDir ?? dataDir,
  }
  const config = readConfig(env)
  const logFile = join(dataDir, 'launcher.log')
  const logFrom = existsSync(logFile) ? readFileSync(logFile, 'utf8').length : 0
  const log = openLog(logFile)
  const [command = '', ...args] = [...(given.inside?.enter ?? []), process.execPath, 'deploy/embedded/start.mjs']
  const launcher = spawn(command, args, {
    cwd: given.clone,
    // As under npm: should vitest be killed, the launcher stops by itself.
    env: { npm_lifecycle_event: 'test', ...process.env, ...env },
    stdio: ['ignore', log, log],
  })
  const ended = once(launcher, 'exit')

  const tearDown = async () => {
    launcher.kill('SIGTERM')
    const isDown = await Promise.race([ended.then(() => true), delay(DOWN_WITHIN_MS, false, { ref: false })])
    const left = await endProcessesWith(`DATA_DIR=${env.DATA_DIR}`)
    await containers?.stop()
    if (!isDown) throw new Error(`the launcher did not stop within ${DOWN_WITHIN_MS / 1000} s`)
    if (left.length > 0) throw new Error(`processes were left behind: ${left.join('; ')}`)
    if (!given.dataDir) await rm(dataDir, { recursive: true, force: true })
  }

  const isUp = () => existsSync(logFile) && readFileSync(logFile, 'utf8').slice(logFrom).includes('Weir is ready.')
  for (const end = Date.now() + UP_WITHIN_MS; !isUp(); await delay(100)) {
    if (launcher.exitCode === null && launcher.signalCode === null && Date.now() < end) continue
    const tail = tailOf(logFile, 30).join('\n')
    await tearDown().catch((error: unknown) => process.stderr.write(`${error}\n`))
    throw new Error(`the system did not come up:\n${tail}`)
  }
  const system: WholeSystem = {
    edgeUrl: edgeUrl(config),
    demoKey: readFileSync(join(dataDir, 'demo-key'), 'utf8').trim(),
    env: { ...env, ...serviceEnvironment({ ...config, dataDir }) },
    dataDir,
    launcherPid: launcher.pid ?? 0,
  }
  return { system, stop: tearDown }
}
