import { join } from 'node:path'
import { logFileOf, sizeOf, tailOf } from '../supervision/log-file.js'
import { type Running, spawnNoted } from '../supervision/spawn-noted.js'
import { CannotStart } from '../supervision/supervised-process.js'
import type { Config } from './config.js'
import { mainOf, serviceEnvironment } from './services.js'

/**
 * Topics, subjects, tables, migrations, and the organisation demo with its key, which is left in <dataDir>/demo-key.
 * Everything that is there already stays.
 */
export const provision = (config: Config): Running & { done: Promise<void> } => {
  const logFile = logFileOf(config.dataDir, 'provision')
  const logFrom = sizeOf(logFile) ?? 0
  const running = spawnNoted(
    {
      name: 'provision',
      command: process.execPath,
      args: [mainOf('operator'), 'provision', '--demo-key-file', demoKeyFile(config)],
      env: serviceEnvironment(config),
    },
    config.dataDir,
  )
  const done = running.ended.then(({ isClean, reason }) => {
    if (isClean) return
    const tail = tailOf(logFile, 12, logFrom).map((line) => `  ${line}`)
    throw new CannotStart([`provisioning failed: ${reason}. Its log: ${logFile}`, ...tail].join('\n'))
  })
  return { ...running, done }
}

export const demoKeyFile = (config: Config): string => join(config.dataDir, 'demo-key')
