import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Addresses, type Config, readConfig } from './config.js'
import { unlessDiskRefuses } from './disk-refusal.js'

const fileOf = (dataDir: string): string => join(dataDir, 'run', 'addresses.json')

/** Notes where this system's parts are, so that an operator need not say it again in another shell. */
export const noteAddresses = ({ dataDir, addresses }: Config): (() => void) => {
  mkdirSync(join(dataDir, 'run'), { recursive: true })
  // An address elsewhere may hold a password.
  writeFileSync(fileOf(dataDir), JSON.stringify(addresses), { mode: 0o600 })
  return () => unlessDiskRefuses(() => rmSync(fileOf(dataDir), { force: true }))
}

const portOf = {
  KAFKA_BROKERS: 'KAFKA_PORT',
  SCHEMA_REGISTRY_URL: 'REGISTRY_PORT',
  POSTGRES_URL: 'POSTGRES_PORT',
  CLICKHOUSE_URL: 'CLICKHOUSE_PORT',
} as const

/** The addresses for an operator's command: those in the environment, else those of the system that runs in DATA_DIR. */
export const operatorAddresses = (env: Readonly<Record<string, string | undefined>>): Addresses => {
  const { dataDir, addresses } = readConfig(env)
  const noted = readNoted(dataDir)
  const choose = (name: keyof Addresses) =>
    env[name] || env[portOf[name]] ? addresses[name] : (noted[name] ?? addresses[name])
  return {
    KAFKA_BROKERS: choose('KAFKA_BROKERS'),
    SCHEMA_REGISTRY_URL: choose('SCHEMA_REGISTRY_URL'),
    POSTGRES_URL: choose('POSTGRES_URL'),
    CLICKHOUSE_URL: choose('CLICKHOUSE_URL'),
  }
}

const readNoted = (dataDir: string): Partial<Addresses> => {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as Addresses
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw error
  }
}
