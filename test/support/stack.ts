import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Addresses, readConfig } from '../../deploy/embedded/launcher/config.js'
import { embeddedParts } from '../../deploy/embedded/launcher/embedded-parts.js'
import { serviceAddresses } from '../../deploy/embedded/launcher/services.js'
import { createSupervisor } from '../../deploy/embedded/supervision/supervisor.js'
import { startContainers } from './containers.js'
import { freePortVariables } from './free-port-variables.js'

export type Stack = { env: Addresses; stop: () => Promise<void> }

/** Kafka, the registry, Postgres and ClickHouse, as `npm start` runs them; with WEIR_TEST_STACK=docker, from images. */
export const startParts = (options: { dataDir?: string } = {}): Promise<Stack> =>
  process.env.WEIR_TEST_STACK === 'docker' ? startContainers() : startEmbedded(options.dataDir)

/**
 * A ClickHouse beside the given parts, for a test whose types are not Weir's own: some views are made of all types, and a
 * test that reads them on the shared ClickHouse would find them without its own.
 */
export const startOwnClickHouse = ({ KAFKA_BROKERS, SCHEMA_REGISTRY_URL, POSTGRES_URL }: Addresses): Promise<Stack> =>
  startEmbedded(undefined, { KAFKA_BROKERS, SCHEMA_REGISTRY_URL, POSTGRES_URL })

/** A ClickHouse and nothing else, for a test of what reads it. The other parts have addresses at which nobody answers. */
export const startClickHouseAlone = (): Promise<Stack> =>
  startEmbedded(undefined, {
    KAFKA_BROKERS: '127.0.0.1:1',
    SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
    POSTGRES_URL: 'postgres://127.0.0.1:1/nobody',
  })

const startEmbedded = async (given: string | undefined, shared: Partial<Addresses> = {}): Promise<Stack> => {
  const dataDir = given ?? (await mkdtemp(join(tmpdir(), 'weir-parts-')))
  const config = readConfig({ ...(await freePortVariables()), ...shared, DATA_DIR: dataDir })
  const supervisor = createSupervisor({ dataDir, report: (line) => process.stderr.write(`${line}\n`) })
  const stop = async () => {
    await supervisor.stop()
    if (given === undefined) await rm(dataDir, { recursive: true, force: true })
  }
  try {
    await supervisor.start(await embeddedParts(config))
  } catch (error) {
    await stop()
    throw error
  }
  return { env: serviceAddresses(config), stop }
}
