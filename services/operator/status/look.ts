import { countFailed } from '#ledger/erasures/late.js'
import { type EndingKey, listEndingKeys } from '#ledger/keys.js'
import { sizeOfDatabase } from '#ledger/organisations.js'
import { findLastVerification, type Verification } from '#ledger/verify/verifications.js'
import { countWaiting } from '#ledger/waiting/look-up.js'
import { type ClickHouse, type ClickHouseStorage, storageOf } from '#platform/clickhouse.js'
import { reasonOf } from '#platform/health/health.js'
import { type Peers, readPeers } from '#platform/health/peers.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { within } from '#platform/process/within.js'
import { database, rejectionsView } from '#schemas/derive/names.js'
import type { Session } from '../command/session.js'
import { nowhere } from '../config.js'
import { findLag, type PartitionLag } from './lag.js'

/** What was asked for, or why it is not known. */
export type Look<T> = { ok: true; found: T } | { ok: false; problem: string }

/** A process of Weir as it answers for itself. */
export type ServiceState = {
  name: string
  address: string
  version: string | null
  commit: string | null
  is_ready: boolean
  /** By part; under the service's own name where it does not answer. */
  problems: Record<string, string>
}

export type LedgerState = {
  waiting: number
  oldest_wait: Date | null
  keys_ending: EndingKey[]
  erasures_failed: number
  used_bytes: number
  last_verify: Verification | null
}
export type TablesState = ClickHouseStorage & { set_aside: number }

export type SystemLook = {
  services: ServiceState[]
  kafka: Look<PartitionLag[]>
  postgres: Look<LedgerState>
  clickhouse: Look<TablesState>
}

const endingWithin = 14 * 86_400_000
const mostKeys = 20

/**
 * Asks every service and every part at once. Each has this long for all that it is asked: what is away or hangs does not keep the
 * others from being shown.
 */
export const lookAtSystem = async (session: Session, answerWithin: number): Promise<SystemLook> => {
  const { config, catalogue, withParts } = session
  const [services, kafka, postgres, clickhouse] = await Promise.all([
    lookAtServices(withPort(config.EDGE_URL, config.OPERATIONS_PORT), readPeers(config.PEERS), answerWithin),
    look('Kafka', answerWithin, () => withParts(['kafka'], ({ kafka: client }) => findLag(client, catalogue))),
    look('Postgres', answerWithin, () => withParts(['pool'], ({ pool }) => lookAtLedger(pool))),
    look('ClickHouse', answerWithin, () => withParts(['clickhouse'], ({ clickhouse: client }) => lookAtTables(client))),
  ])
  return { services, kafka, postgres, clickhouse }
}

const look = async <T>(part: string, ms: number, ask: () => Promise<T>): Promise<Look<T>> => {
  try {
    return { ok: true, found: await within(ms, ask()) }
  } catch (error) {
    const reason = reasonOf(error)
    return { ok: false, problem: reason.includes(part) ? reason : `${part}: ${reason}` }
  }
}

const lookAtLedger = async (pool: Pool): Promise<LedgerState> => {
  const { waiting, oldest } = await countWaiting(pool)
  return {
    waiting,
    oldest_wait: oldest,
    keys_ending: await listEndingKeys(pool, endingWithin, mostKeys),
    erasures_failed: await countFailed(pool),
    used_bytes: await sizeOfDatabase(pool),
    last_verify: (await findLastVerification(pool)) ?? null,
  }
}

const lookAtTables = async (clickhouse: ClickHouse): Promise<TablesState> => {
  const storage = await storageOf(clickhouse, database)
  const [aside] = await clickhouse.query<{ messages: number }>(
    `select toFloat64(count()) as messages
    from ${database}.${rejectionsView}
    where rejected_at > now() - interval 1 day and has(problems.code, 'undecodable')`,
  )
  return { used: 0, free: 0, size: 0, ...storage, set_aside: aside?.messages ?? 0 }
}

const behindEdge = ['integrity', 'sink', 'delivery']

/** The edge, and the services behind it: each by its own address where PEERS names it, else as the edge sees it. */
const lookAtServices = async (edgeUrl: string, peers: Peers, ms: number): Promise<ServiceState[]> => {
  const edge = await lookAtService('edge', edgeUrl, ms)
  const known = await Promise.all([...peers].map(([name, address]) => lookAtService(name, address, ms)))
  const seen = Object.keys(edge.parts).filter((part) => behindEdge.includes(part) && !peers.has(part))
  const byEdge = seen.map((name) => ({
    ...{ name, address: 'as the edge sees it', version: null, commit: null },
    is_ready: edge.problems[name] === undefined,
    problems: edge.problems[name] === undefined ? {} : { [name]: edge.problems[name] },
  }))
  // What a service says of itself need not be said by the edge again.
  const own = Object.fromEntries(Object.entries(edge.problems).filter(([part]) => !behindEdge.includes(part)))
  const { parts: _, ...state } = edge
  return [
    { ...state, problems: own, is_ready: edge.is_ready || Object.keys(own).length === 0 },
    ...known.map(withoutParts),
    ...byEdge,
  ]
}

type Parts = Record<string, { ok: boolean; problem?: string }>

const withoutParts = ({ parts: _, ...state }: ServiceState & { parts: Parts }): ServiceState => state

const lookAtService = async (name: string, address: string, ms: number): Promise<ServiceState & { parts: Parts }> => {
  const unknown = { name, address, version: null, commit: null, parts: {} }
  if (address === nowhere)
    return { ...unknown, is_ready: false, problems: { [name]: 'no Weir runs in this folder; EDGE_URL names another' } }
  try {
    const health = (await (await ask(`${address}/healthz`, ms)).json()) as { version?: string; commit?: string }
    const answer = await ask(`${address}/readyz`, ms)
    const { parts = {} } = (await answer.json()) as { parts?: Parts }
    const down = Object.entries(parts).filter(([, { ok }]) => !ok)
    const problems = Object.fromEntries(down.map(([part, { problem = 'does not work' }]) => [part, problem]))
    const isReady = answer.status === 200
    return {
      ...{ name, address, version: health.version ?? null, commit: health.commit ?? null, parts },
      is_ready: isReady,
      problems: isReady || down.length > 0 ? problems : { [name]: 'not ready; OPERATIONS_PORT shows why' },
    }
  } catch (error) {
    return { ...unknown, is_ready: false, problems: { [name]: `does not answer (${reasonOf(error)})` } }
  }
}

// A service asks its own parts for up to 3 s before it answers.
const ask = (address: string, ms: number): Promise<Response> => fetch(address, { signal: AbortSignal.timeout(ms) })

const withPort = (url: string, port: number | undefined): string => {
  if (port === undefined || !URL.canParse(url)) return url
  const address = new URL(url)
  // Operators' pages are plain HTTP, in your own network.
  address.protocol = 'http:'
  address.port = String(port)
  return address.origin
}
