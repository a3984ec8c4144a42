import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { claimFile } from '../supervision/claim-file.mjs'
import { unlessDiskRefuses } from '../supervision/disk-refusal.mjs'
import { type Addresses, type LauncherConfig, readConfig } from './config.js'
import { edgeUrl } from './services.js'

export class DataFolderInUse extends Error {
  override name = 'DataFolderInUse'
}

/** Claims the data folder for this launcher; throws when a living one has it. Returns how to give it back. */
export const claimDataFolder = (dataDir: string): (() => void) => {
  mkdirSync(join(dataDir, 'run'), { recursive: true })
  mkdirSync(join(dataDir, 'logs'), { recursive: true })
  const claim = claimFile(join(dataDir, 'run', 'launcher.json'))
  if (claim.holder) {
    const { EDGE_URL } = readNoted(dataDir)
    const reach = EDGE_URL ? `at ${EDGE_URL} (its documentation: ${EDGE_URL}/docs)` : 'and is still starting'
    const folder = dataDir === readConfig({}).dataDir ? '' : `DATA_DIR='${dataDir}' `
    throw new DataFolderInUse(
      `Weir already runs with the data folder ${dataDir} (process ${claim.holder.pid}), ${reach}; ` +
        `operate it by ${folder}npm run -s weir -- --help, or end it by kill ${claim.holder.pid}`,
    )
  }
  return () => unlessDiskRefuses(claim.release)
}

/** Where an operator's command finds the parts and the edge. */
export type OperatorAddresses = Addresses & { EDGE_URL: string }

const fileOf = (dataDir: string): string => join(dataDir, 'run', 'addresses.json')

/**
 * Notes in the data folder where this system's parts are, so that an operator's command in another shell finds them.
 * Returns how to remove the note.
 */
export const noteAddresses = (config: LauncherConfig): (() => void) => {
  const { dataDir } = config
  mkdirSync(join(dataDir, 'run'), { recursive: true })
  // Only its owner may read the file: the address of a part elsewhere may hold a password.
  writeFileSync(fileOf(dataDir), JSON.stringify(addressesOf(config)), { mode: 0o600 })
  return () => unlessDiskRefuses(() => rmSync(fileOf(dataDir), { force: true }))
}

const addressesOf = (config: LauncherConfig): OperatorAddresses => ({ ...config.addresses, EDGE_URL: edgeUrl(config) })

const portOf = {
  KAFKA_BROKERS: 'KAFKA_PORT',
  SCHEMA_REGISTRY_URL: 'REGISTRY_PORT',
  POSTGRES_URL: 'POSTGRES_PORT',
  CLICKHOUSE_URL: 'CLICKHOUSE_PORT',
  EDGE_URL: 'EDGE_PORT',
} as const

/** The addresses for an operator's command: from the environment, else from the system that runs in DATA_DIR, else defaults. */
export const operatorAddresses = (env: Readonly<Record<string, string | undefined>>): OperatorAddresses => {
  const config = readConfig(env)
  const addresses = { ...addressesOf(config), ...(env.EDGE_URL && { EDGE_URL: env.EDGE_URL }) }
  const noted = readNoted(config.dataDir)
  const choose = (name: keyof OperatorAddresses) =>
    env[name] || env[portOf[name]] ? addresses[name] : (noted[name] ?? addresses[name])
  return {
    KAFKA_BROKERS: choose('KAFKA_BROKERS'),
    SCHEMA_REGISTRY_URL: choose('SCHEMA_REGISTRY_URL'),
    POSTGRES_URL: choose('POSTGRES_URL'),
    CLICKHOUSE_URL: choose('CLICKHOUSE_URL'),
    EDGE_URL: choose('EDGE_URL'),
  }
}

const readNoted = (dataDir: string): Partial<OperatorAddresses> => {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as OperatorAddresses
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}
