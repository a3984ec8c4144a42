// @ts-check
// Plain Node, not TypeScript, so that it can also run before anything is compiled.
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { livingHolderOf } from '../supervision/claim-file.mjs'
import { refusalOf, tryToWrite } from '../supervision/disk-refusal.mjs'
import { isAlive, parseWhole, readIfThere } from '../supervision/process-identity.mjs'
import { findBusyPorts } from './busy-ports.mjs'
import { readStartSettings } from './start-settings.mjs'

// Why a start with these variables would be refused, in a line each with the next step. Asked before anything is downloaded or
// built: the launcher looks for the same, and more, but only runs after that.
/** @type {(env: Readonly<Record<string, string | undefined>>, clone: string) => Promise<string[]>} */
export const findStartProblems = async (env, root) => {
  const { problems, dataDir, ...settings } = readStartSettings(env, root)
  if (problems.length > 0) return problems
  const refusal = whyNotWritable(dataDir)
  if (refusal) return [unusableLine(dataDir, refusal)]
  const holder = livingHolderOf(claimOf(dataDir))
  if (holder) return [inUseLine(dataDir, holder, root)]
  // What a killed launcher left running has the ports still; this start will end it first.
  return hasOrphans(dataDir) ? [] : findBusyPorts(settings)
}

/** @param {string} dataDir */
export const claimOf = (dataDir) => join(dataDir, 'run', 'launcher.json')

/** @param {string} dataDir */
export const backupClaimOf = (dataDir) => join(dataDir, 'run', 'backup.json')

/** @param {string} dataDir */
export const addressesFileOf = (dataDir) => join(dataDir, 'run', 'addresses.json')

// Where the parts are; undefined where that is not noted yet: a launcher claims the folder a moment before.
/** @type {(dataDir: string) => Record<string, string> | undefined} */
export const readAddresses = (dataDir) => {
  const text = readIfThere(addressesFileOf(dataDir))
  return text === undefined ? undefined : JSON.parse(text)
}

/** @type {(dataDir: string, holder: { pid: number }, clone: string) => string} */
export const inUseLine = (dataDir, holder, root) => {
  const edge = readAddresses(dataDir)?.EDGE_URL
  const reach = edge ? `at ${edge} (its documentation: ${edge}/docs)` : 'and is still starting'
  const folder = dataDir === readStartSettings({}, root).dataDir ? '' : `DATA_DIR='${dataDir}' `
  return (
    `Weir already runs with the data folder ${dataDir} (process ${holder.pid}), ${reach}; ` +
    `operate it by ${folder}npm run -s weir -- --help, or end it by kill ${holder.pid}`
  )
}

/** @type {(dataDir: string, refusal: string) => string} */
export const unusableLine = (dataDir, refusal) =>
  `The data folder ${dataDir} cannot be used: ${refusal}. See to that, or set DATA_DIR to another folder.`

/** @param {string} dataDir */
const whyNotWritable = (dataDir) => {
  try {
    mkdirSync(join(dataDir, 'run'), { recursive: true })
  } catch (error) {
    const refusal = refusalOf(error)
    if (refusal === undefined) throw error
    return refusal
  }
  return tryToWrite(join(dataDir, 'run'))
}

/** @param {string} dataDir */
const hasOrphans = (dataDir) =>
  readdirSync(join(dataDir, 'run'))
    .filter((name) => name.endsWith('.pid'))
    .map((name) => parseWhole(readIfThere(join(dataDir, 'run', name)) ?? ''))
    .some((noted) => noted !== undefined && isAlive(noted))
