import { addressesOf, changeAddress, isAddress } from '#platform/postgres/hosts.js'
import type { LauncherConfig } from './config.js'
import { edgeUrl } from './services.js'

const LABEL = 12
// The first upload of the README, which a test compares with this.
const example =
  '{"records": [{"shop_id": "3f2b8c1e-9d4a-4e7f-8a1b-2c3d4e5f6a7b", "name": "Corner Books", "region": "GB"}]}'

/** What a newcomer needs to know, printed once everything is ready. */
export const banner = (config: LauncherConfig, demoKey: string): string => {
  const edge = edgeUrl(config)
  // A certificate is made for a name and seldom holds for this machine's loopback address, so curl must not verify it.
  const unverified = config.edgeTls ? 'k' : ''
  const line = (label: string, text: string) => `  ${label.padEnd(LABEL)}${text}`
  return [
    '',
    '  Weir is ready.',
    '',
    line('upload to', `${edge}/v1/data/{type}`),
    line('console', `${edge}/console`),
    line('docs', `${edge}/docs`),
    line('Kafka', hidePassword(config.addresses.KAFKA_BROKERS)),
    line('registry', hidePassword(config.addresses.SCHEMA_REGISTRY_URL)),
    line('ClickHouse', hidePassword(config.addresses.CLICKHOUSE_URL)),
    ...(config.ownPorts.includes('CLICKHOUSE_PORT')
      ? [line('queries', `${config.addresses.CLICKHOUSE_URL}/play`)]
      : []),
    line('Postgres', hidePassword(config.addresses.POSTGRES_URL)),
    line('logs', `${config.dataDir}/logs`),
    line('demo key', demoKey),
    '',
    '  Try it:',
    '',
    // One line, however long: only that can be pasted from a terminal and from a log alike.
    `curl -s${unverified} ${edge}/v1/data/shops -H 'Authorization: Bearer ${demoKey}' -H 'Content-Type: application/json' -d '${example}'`,
    '',
    '  Ctrl-C stops everything; what was uploaded is kept for the next start.',
    '',
  ].join('\n')
}

// Everybody knows the password of the embedded Postgres; the password of any other server must not be on the screen.
const hidePassword = (address: string): string => {
  const hasPassword = isAddress(address) && new URL(addressesOf(address)[0] ?? '').password !== ''
  if (!hasPassword || address.startsWith('postgres://weir:weir@127.0.0.1')) return address
  return changeAddress(address, (url) => {
    url.password = '***'
  })
}
