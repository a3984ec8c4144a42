import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { type ClickHouseClient, type ClickHouseSettings, createClient } from '@clickhouse/client'
import { AccessRefused, type Trust } from './process/access.js'
import { tlsProblem } from './process/tls-problem.js'

export type ClickHouse = ReturnType<typeof createClickHouse>

const pingWithin = 2_000

// Said with every insert, because a server or a user may have other defaults.
const insertSettings = {
  // A column that was added after an event was written is simply not in that event.
  input_format_avro_allow_missing_fields: 1,
  // An answer means that the rows are in the table, not in a buffer that a crash empties.
  async_insert: 0,
  // A replicated table passes over a block that it has seen, and so do the tables that are fed from it: a second try after a
  // first one that reached only the first table would never reach the second.
  insert_deduplicate: 0,
} as const

// The same, of servers since 26.2: it is on by default, and counts instead of the older one. Others do not know it.
const newerInsertSettings = { deduplicate_insert: 'disable', deduplicate_insert_select: 'disable' } as const

// Said with every statement on a cluster, for the same reason.
const clusterSettings = (quorum: string) => ({
  // An answer means that the rows are on their shards, and there on as many replicas as asked, not on their way.
  distributed_foreground_insert: 1 as const,
  insert_quorum: quorum,
  // Sinks insert at the same time; without it all but one would be refused, and through a Distributed table rows were lost.
  insert_quorum_parallel: 1 as const,
  // Less than the request may take.
  insert_quorum_timeout: 30_000,
  // Rows that are copied go to the shards that they belong to now, not to where they were.
  parallel_distributed_insert_select: '0',
  // A subquery is asked once, of all shards.
  distributed_product_mode: 'global' as const,
  optimize_skip_unused_shards: 1 as const,
  // An answer that lacks a shard would look like one of a system that has lost rows.
  skip_unavailable_shards: 0 as const,
  // A changed table is one everywhere before anything is written to it.
  alter_sync: '2',
  // A replica may find fewer versions to delete than another one; it never finds one that has to stay.
  allow_nondeterministic_mutations: 1 as const,
  // Where users are kept in Keeper, all servers have them already.
  ignore_on_cluster_for_replicated_access_entities_queries: 1 as const,
})

type Options = Trust & {
  requestTimeout?: number
  maxConnections?: number
  /** Cuts off what is under way. */
  signal?: AbortSignal
  /** The cluster that the server belongs to, and how many replicas have to have rows: a number, or `auto`. */
  cluster?: string | undefined
  quorum?: string | undefined
}

export const createClickHouse = (url: string, options: Options = {}) => {
  const cutOff = options.signal && { abort_signal: options.signal }
  const client = createClient({
    url,
    ...(options.ca && { tls: { ca_cert: Buffer.from(options.ca) } }),
    request_timeout: options.requestTimeout ?? 60_000,
    ...(options.maxConnections && { max_open_connections: options.maxConnections }),
    keep_alive: { enabled: true, idle_socket_ttl: 2_000 },
    ...(options.cluster && { clickhouse_settings: clusterSettings(options.quorum ?? 'auto') }),
    // The service itself logs what went wrong, once.
    log: { LoggerClass: SilentLogger },
  })
  let insertsWith: Promise<ClickHouseSettings> | undefined
  /** Asked once, at the first insert; again where the server did not answer. */
  const settingsOfInserts = (): Promise<ClickHouseSettings> => {
    insertsWith ??= findInsertSettings(client).catch((error) => {
      insertsWith = undefined
      throw error
    })
    return insertsWith
  }
  return {
    cluster: options.cluster,
    /** A statement that answers no rows; one that inserts is an insert like any other. */
    command: async (sql: string, settings: ClickHouseSettings = {}): Promise<void> => {
      const clickhouse_settings = sql.startsWith('insert') ? await settingsOfInserts() : settings
      await client.command({ query: sql, clickhouse_settings, ...cutOff })
    },
    /** Rows as objects; values are bound to the placeholders {name:Type}, never put into the text. */
    query: async <Row>(
      sql: string,
      values: Record<string, unknown> = {},
      settings: Record<string, string | number> = {},
    ): Promise<Row[]> => {
      const asked = { query: sql, query_params: values, clickhouse_settings: settings, ...cutOff }
      const answer = await client.query({ ...asked, format: 'JSONEachRow' })
      return answer.json<Row>()
    },
    /** An answer of any length, in a format of ClickHouse's with one row in each line: the lines as they arrive, some at a time. */
    read: async (
      sql: string,
      format: 'CSVWithNames' | 'JSONEachRow' | 'JSONCompactEachRowWithNames',
      settings: ClickHouseSettings = {},
    ): Promise<AsyncIterable<string[]>> => {
      const answer = await client.query({ query: sql, format, clickhouse_settings: settings, ...cutOff })
      return textsIn(answer.stream())
    },
    /**
     * An answer as bytes, in the format that the statement names. The server sends it when all of it is made: an error on the way is an
     * error then, and never stands among the rows.
     */
    readBytes: async (
      sql: string,
      values: Record<string, unknown> = {},
      settings: ClickHouseSettings = {},
    ): Promise<Readable> => {
      const whole = { ...settings, wait_end_of_query: 1 as const }
      const asked = { query: sql, query_params: values, clickhouse_settings: whole, ...cutOff }
      return (await client.exec(asked)).stream
    },
    /** One block of rows as an Avro object container. */
    insertAvro: async (table: string, container: Buffer): Promise<void> => {
      // exec, not insert: for Avro, `insert` expects rows that it encodes itself.
      const { stream } = await client.exec({
        query: `insert into ${table} format Avro`,
        values: Readable.from([container], { objectMode: false }),
        clickhouse_settings: await settingsOfInserts(),
        ...cutOff,
      })
      // The socket can be used again only when the answer has been read.
      await finished(stream.resume())
    },
    ping: async (): Promise<void> => {
      // With a bound of its own: pings that hang would use up the client's few connections.
      const answer = await client.ping({ select: false, abort_signal: AbortSignal.timeout(pingWithin) })
      if (!answer.success) throw orRefused(answer.error, url)
    },
    close: () => client.close(),
  }
}

async function* textsIn(stream: AsyncIterable<readonly { text: string }[]>): AsyncIterable<string[]> {
  for await (const rows of stream) yield rows.map(({ text }) => text)
}

/** Bytes that the tables of a database take, and those that the disks have: all, and free. */
export type ClickHouseStorage = { used: number; free: number; size: number }

export const storageOf = async (
  { query }: Pick<ClickHouse, 'query'>,
  database: string,
): Promise<ClickHouseStorage | undefined> => {
  const [found] = await query<ClickHouseStorage>(
    `select toFloat64((
        select sum(bytes_on_disk) from system.parts where active and database = {database:String}
      )) as used,
      toFloat64(sum(free_space)) as free, toFloat64(sum(total_space)) as size
    from system.disks
    where type ilike 'local%'`,
    { database },
  )
  return found
}

const findInsertSettings = async (client: ClickHouseClient): Promise<ClickHouseSettings> => {
  const names = Object.keys(newerInsertSettings)
  const query = 'select name from system.settings where name in ({names:Array(String)})'
  const answer = await client.query({ query, query_params: { names }, format: 'JSONEachRow' })
  const known = new Set((await answer.json<{ name: string }>()).map(({ name }) => name))
  const newer = Object.entries(newerInsertSettings).filter(([name]) => known.has(name))
  return { ...insertSettings, ...Object.fromEntries(newer) }
}

// Less than the edge waits for an answer: ClickHouse itself ends a read whose asker has gone.
const bounds = {
  max_execution_time: 9,
  max_threads: 2,
  max_memory_usage: 1_000_000_000,
  max_rows_to_read: 200_000_000,
}

/** A reader whose queries are bounded, so that no question keeps ClickHouse from its work; `others` are bounds in place of the usual. */
export const boundedReader = (
  { query }: Pick<ClickHouse, 'query'>,
  others: Partial<typeof bounds> = {},
): Pick<ClickHouse, 'query'> => ({
  query: (sql, values, settings) => query(sql, values, { ...bounds, ...others, ...settings }),
})

const orRefused = (error: Error, url: string): Error => {
  const problem = tlsProblem(error, {
    part: 'ClickHouse',
    ca: 'CLICKHOUSE_CA_FILE',
    on: url.startsWith('https:') ? undefined : 'write https:// in CLICKHOUSE_URL',
    off: 'write http:// in CLICKHOUSE_URL, or name its port for TLS there',
  })
  return problem ? new AccessRefused(problem) : error
}

/** For clients whose service logs by itself what went wrong, once. */
export class SilentLogger {
  trace() {}
  debug() {}
  info() {}
  warn() {}
  error() {}
}
