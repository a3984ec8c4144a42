import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unlessDiskRefuses } from '../supervision/disk-refusal.js'
import { identityOf, isAlive } from '../supervision/process-identity.js'
import { type Addresses, type Config, readConfig } from './config.js'
import { edgeUrl } from './services.js'

export class DataFolderInUse extends Error {
  override name = 'DataFolderInUse'
}

/** Claims the data folder for this launcher; throws when a living one has it. Returns how to give it back. */
export const claimDataFolder = (dataDir: string): (() => void) => {
  mkdirSync(join(dataDir, 'run'), { recursive: true })
  mkdirSync(join(dataDir, 'logs'), { recursive: true })
  const claim = join(dataDir, 'run', 'launcher.json')
  const mine = JSON.stringify({ pid: process.pid, identity: identityOf(process.pid) })

  const draft = `${claim}.${process.pid}`
  try {
    writeFileSync(draft, mine)
    while (!link(draft, claim)) {
      const holder = read(claim)
      if (holder === undefined) continue
      const { pid, identity } = JSON.parse(holder) as { pid: number; identity: string }
      if (isAlive({ pid, identity })) {
        throw new DataFolderInUse(`Weir already runs with the data folder ${dataDir} (process ${pid}).`)
      }
      setAside(claim, holder)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  return () => {
    unlessDiskRefuses(() => {
      if (read(claim) === mine) rmSync(claim, { force: true })
    })
  }
}

// Two launchers may find the same dead one's claim: whoever moves aside more than that puts it back.
const setAside = (claim: string, stale: string) => {
  const aside = `${claim}.stale.${process.pid}`
  if (!ifExists(() => renameSync(claim, aside))) return
  if (read(aside) !== stale) link(aside, claim)
  rmSync(aside, { force: true })
}

const link = (from: string, to: string): boolean => {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

const read = (file: string): string | undefined => {
  let text: string | undefined
  ifExists(() => {
    text = readFileSync(file, 'utf8')
  })
  return text
}

const ifExists = (action: () => void): boolean => {
  try {
    action()
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

const hasCode = (error: unknown, code: string) => error instanceof Error && 'code' in error && error.code === code

/** What an operator's command is told: where the parts are, and the edge. */
export type OperatorAddresses = Addresses & { EDGE_URL: string }

const fileOf = (dataDir: string): string => join(dataDir, 'run', 'addresses.json')

/** Notes where this system's parts are, so that an operator need not say it again in another shell. */
export const noteAddresses = (config: Config): (() => void) => {
  const { dataDir } = config
  mkdirSync(join(dataDir, 'run'), { recursive: true })
  // An address elsewhere may hold a password.
  writeFileSync(fileOf(dataDir), JSON.stringify(addressesOf(config)), { mode: 0o600 })
  return () => unlessDiskRefuses(() => rmSync(fileOf(dataDir), { force: true }))
}

const addressesOf = (config: Config): OperatorAddresses => ({ ...config.addresses, EDGE_URL: edgeUrl(config) })

const portOf = {
  KAFKA_BROKERS: 'KAFKA_PORT',
  SCHEMA_REGISTRY_URL: 'REGISTRY_PORT',
  POSTGRES_URL: 'POSTGRES_PORT',
  CLICKHOUSE_URL: 'CLICKHOUSE_PORT',
  EDGE_URL: 'EDGE_PORT',
} as const

/** The addresses for an operator's command: those in the environment, else those of the system that runs in DATA_DIR. */
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
