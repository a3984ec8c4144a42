import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'
import { addressOf } from '../../../services/operator/command/ask-servers.js'
import { nowhere } from '../../../services/operator/config.js'
import { claimFile, livingHolderOf } from '../supervision/claim-file.mjs'
import { unlessDiskRefuses } from '../supervision/disk-refusal.mjs'
import { type Addresses, type LauncherConfig, readConfig } from './config.js'
import { addressesFileOf, claimOf, inUseLine, readAddresses } from './data-folder.mjs'
import { edgeUrl, serviceAddresses, serviceEnvironment } from './services.js'
import { readStartSettings } from './start-settings.mjs'

export class DataFolderInUse extends Error {
  override name = 'DataFolderInUse'
}

/** Claims the data folder for this launcher; throws when a living one has it. Returns how to give it back. */
export const claimDataFolder = (dataDir: string): (() => void) => {
  mkdirSync(join(dataDir, 'run'), { recursive: true })
  mkdirSync(join(dataDir, 'logs'), { recursive: true })
  const claim = claimFile(claimOf(dataDir))
  if (claim.holder) throw new DataFolderInUse(inUseLine(dataDir, claim.holder, packageRoot))
  return () => unlessDiskRefuses(claim.release)
}

/** Where an operator's command finds the parts and the edge. */
type OperatorAddresses = Addresses & { EDGE_URL: string }
type Noted = OperatorAddresses & { PEERS?: string }

/** Notes where this system is, so that an operator's command in another shell finds it. Returns how to remove the note. */
export const noteAddresses = (config: LauncherConfig): (() => void) => {
  const { dataDir } = config
  mkdirSync(join(dataDir, 'run'), { recursive: true })
  const { PEERS = '' } = serviceEnvironment(config)
  const addresses: Noted = { ...serviceAddresses(config), EDGE_URL: edgeUrl(config), PEERS }
  // Only its owner may read the file: addresses may hold a password.
  writeFileSync(addressesFileOf(dataDir), JSON.stringify(addresses), { mode: 0o600 })
  return () => unlessDiskRefuses(() => rmSync(addressesFileOf(dataDir), { force: true }))
}

const portOf = {
  KAFKA_BROKERS: 'KAFKA_PORT',
  SCHEMA_REGISTRY_URL: 'REGISTRY_PORT',
  POSTGRES_URL: 'POSTGRES_PORT',
  CLICKHOUSE_URL: 'CLICKHOUSE_PORT',
  EDGE_URL: 'EDGE_PORT',
} as const

/** `variables` are for the command; `elsewhere` names the addresses that are not those of the system in this data folder. */
type OperatorSystem = {
  variables: Noted & { NO_SYSTEM_IN?: string }
  elsewhere: string | undefined
}

/** As the environment names it, else of the system in DATA_DIR; else nowhere: another system may have the default port. */
export const operatorSystem = (env: Readonly<Record<string, string | undefined>>): OperatorSystem => {
  const config = readConfig(env)
  const given = { ...config.addresses, EDGE_URL: env.EDGE_URL || edgeUrl(config) }
  const here = addressesHere(config.dataDir)
  const names = Object.keys(portOf) as (keyof OperatorAddresses)[]
  const isNamed = (name: keyof OperatorAddresses) =>
    [name, portOf[name], `${name}_FILE`].some((variable) => env[variable]?.trim())
  // Who names the address of this folder's system by a port alone has not named a user, and means Weir's own.
  const isHere = (name: keyof OperatorAddresses) => here !== undefined && given[name] === withoutUser(here[name])
  const choose = (name: keyof OperatorAddresses) =>
    isNamed(name) && !isHere(name) ? given[name] : (here?.[name] ?? nowhere)
  const addresses = Object.fromEntries(names.map((name) => [name, choose(name)])) as OperatorAddresses
  const others = names.filter((name) => isNamed(name) && addresses[name] !== here?.[name])
  const list = others.map(
    (name) => `${name} ${name === 'KAFKA_BROKERS' ? addresses[name] : addressOf(addresses[name])}`,
  )
  return {
    variables: {
      ...addresses,
      // Of another edge nothing is known but what the environment says.
      ...(!env.PEERS && here?.PEERS && here.EDGE_URL === addresses.EDGE_URL && { PEERS: here.PEERS }),
      ...(!here && { NO_SYSTEM_IN: config.dataDir }),
    },
    elsewhere:
      list.length > 0 ? `not the system of this folder, but as the environment says: ${list.join(', ')}` : undefined,
  }
}

/** Where an uploader's command reaches the system that runs in DATA_DIR, and the file with its demo key; undefined where none runs. */
export const localEdge = (env: Readonly<Record<string, string | undefined>>) => {
  const { problems, dataDir } = readStartSettings(env, packageRoot)
  const here = problems.length > 0 ? undefined : addressesHere(dataDir)
  return here && { url: here.EDGE_URL, keyFile: join(dataDir, 'demo-key') }
}

const withoutUser = (address: string): string => address.replace(/^(http:\/\/)[^/@]*@/, '$1')

/** Undefined where no launcher runs: one that was killed leaves its note behind, and others may have its ports by now. */
const addressesHere = (dataDir: string): Noted | undefined =>
  livingHolderOf(claimOf(dataDir)) && (readAddresses(dataDir) as Noted | undefined)
