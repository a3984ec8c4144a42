import { type LauncherConfig, readConfig } from '../../../deploy/embedded/launcher/config.js'
import { freePorts } from '../../../deploy/embedded/servers/ports.js'
import { openLink } from '../../support/link.js'

export type StackAddresses = Awaited<ReturnType<typeof openAddresses>>

/** Every address twice: the part's own, for provisioning and for the checks, and that of a link before it, for the services. */
export const openAddresses = async (dataDir: string) => {
  const [kafka = 0, kafkaBehind = 0, registry = 0, postgres = 0, clickhouse = 0, ...own] = await freePorts(11)
  const linkTo = (port: number) => openLink({ host: '127.0.0.1', port })
  const links = {
    kafka: await linkTo(kafkaBehind),
    registry: await linkTo(registry),
    postgres: await linkTo(postgres),
    clickhouse: await linkTo(clickhouse),
  }
  const [edge1 = 0, edge2 = 0, integrity1 = 0, integrity2 = 0, sink = 0, delivery = 0] = own
  const ports = {
    kafka,
    kafkaBehind,
    registry,
    postgres,
    clickhouse,
    'edge-1': edge1,
    'edge-2': edge2,
    'integrity-1': integrity1,
    'integrity-2': integrity2,
    sink,
    delivery,
  }
  const configOf = (to: Record<keyof typeof links, number>): LauncherConfig =>
    readConfig({
      DATA_DIR: dataDir,
      EDGE_PORT: String(edge1),
      INTEGRITY_PORT: String(integrity1),
      SINK_PORT: String(sink),
      DELIVERY_PORT: String(delivery),
      KAFKA_PORT: String(to.kafka),
      REGISTRY_PORT: String(to.registry),
      POSTGRES_PORT: String(to.postgres),
      CLICKHOUSE_PORT: String(to.clickhouse),
    })
  return {
    ports,
    links,
    direct: configOf(ports),
    linked: configOf({
      kafka: links.kafka.port,
      registry: links.registry.port,
      postgres: links.postgres.port,
      clickhouse: links.clickhouse.port,
    }),
  }
}
