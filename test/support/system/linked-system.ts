import { createFreshDatabase } from '../fresh-database.js'
import { type Link, openLinkTo } from '../link.js'
import { system as shared } from './system.js'
import { startWholeSystem, type WholeSystem } from './whole-system.js'

export type LinkedSystem = {
  system: WholeSystem
  links: Record<'registry' | 'postgres' | 'clickhouse', Link>
  stop: () => Promise<void>
}

/**
 * Kafka and services of its own, which reach the other parts by links that a test can cut. Those parts are the shared
 * system's: nobody starts a part again behind a cut, as the launcher does with its own.
 */
export const startLinkedSystem = async (env: Record<string, string> = {}): Promise<LinkedSystem> => {
  const database = await createFreshDatabase(shared.env.POSTGRES_URL)
  const links = {
    registry: await openLinkTo(shared.env.SCHEMA_REGISTRY_URL),
    postgres: await openLinkTo(database.url),
    clickhouse: await openLinkTo(shared.env.CLICKHOUSE_URL),
  }
  const started = await startWholeSystem({
    env: {
      SCHEMA_REGISTRY_URL: links.registry.url,
      POSTGRES_URL: links.postgres.url,
      CLICKHOUSE_URL: links.clickhouse.url,
      ...env,
    },
  })
  return {
    system: started.system,
    links,
    stop: async () => {
      await started.stop()
      for (const link of Object.values(links)) await link.close()
      await database.drop()
    },
  }
}
