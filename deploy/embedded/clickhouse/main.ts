// The ClickHouse engine (chdb) as a process of its own, behind the HTTP interface of a ClickHouse server.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { patientOutput } from '#platform/health/log.js'
import { openLogins } from './analysts/logins.js'
import { openSpool } from './body.js'
import { readConfig } from './config.js'
import { type Engine, openEngine } from './engine.js'
import { untilRoom } from './full-disk.js'
import { createRunner } from './runner.js'
import { createClickHouseServer, listen, stopServing } from './server.js'

const log = pino({ base: { part: 'clickhouse' } }, patientOutput())

const start = async () => {
  const config = readConfig(process.env)
  log.level = config.logLevel
  await mkdir(config.path, { recursive: true })
  await untilRoom(config.path, (free) =>
    log.error(
      { free },
      'the disk is full: clickhouse starts once it has 16 MiB; free some, or give DATA_DIR another disk',
    ),
  )
  const engine = openEngine(join(config.path, 'engine'), config.engineConfig, config.threads, beginAnew)
  tidyUp(engine)
  // Only after the engine has locked the folder: the spool deletes what it finds, and another process may have put it there.
  const spool = await openSpool(join(config.path, 'spool'))
  const run = createRunner({ engine, spool })
  const logins = openLogins(join(config.path, 'analysts.json'))
  const server = createClickHouseServer({
    ...{ run, version: engine.version, passwords: config, logins, host: config.host, log },
  })
  const port = await listen(server, config.port, config.host)
  log.info({ host: config.host, port, version: engine.version }, 'clickhouse started')

  const stop = async (signal: NodeJS.Signals) => {
    log.info({ signal }, 'clickhouse stopping')
    const isQuiet = await stopServing(server, 1_000, engine.cancelAll)
    log.info({ isQuiet }, 'clickhouse stopped')
    // An orderly exit would wait for the statements that still run, however long; the data on disk survives a kill.
    if (!isQuiet) process.kill(process.pid, 'SIGKILL')
    await engine.close()
    process.exit(0)
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, stop)
}

/** Nothing that a start could fail for. */
const tidyUp = (engine: Engine) => {
  try {
    const parts = engine.removeBrokenParts()
    if (parts > 0) log.info({ parts }, 'broken parts of a week ago removed')
  } catch (error) {
    log.warn({ reason: (error as Error).message }, 'broken parts of a week ago could not be removed')
  }
}

/** At once, so that no statement is answered any more. The supervisor starts this process again. */
const beginAnew = () => {
  log.fatal('the disk refused a write: clickhouse ends, and begins anew with what is whole on it')
  process.kill(process.pid, 'SIGKILL')
}

start().catch((error: Error) => {
  log.fatal({ reason: error.message }, 'clickhouse cannot start')
  process.exit(1)
})
