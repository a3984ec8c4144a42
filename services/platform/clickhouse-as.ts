import type { Readable } from 'node:stream'
import { createClient } from '@clickhouse/client'
import { SilentLogger } from './clickhouse.js'
import type { Trust } from './process/access.js'

export type ClickHouseLogin = { username: string; password: string; database: string }

/** An answer as it comes: in which format, what was read for it where ClickHouse told that, and its bytes. */
export type RawAnswer = {
  /** Undefined where the statement gives no rows. */
  format: string | undefined
  rowsRead: number | undefined
  bytesRead: number | undefined
  /** What stands before an error that comes after the first rows; newer servers name it. */
  exceptionTag: string | undefined
  stream: Readable
}

export type RawQuestion = {
  login: ClickHouseLogin
  /** The statement, as somebody typed it. It goes into the body of the request, and nothing is added to it. */
  sql: string
  settings: Record<string, string | number>
  signal: AbortSignal
}

export type ClickHouseAs = ReturnType<typeof createClickHouseAs>

/**
 * Asks ClickHouse with a login that comes with each question, and with no other: what the services' own user may see stays out of reach,
 * whatever is asked. `signal` ends the question until the answer begins; after that the stream is destroyed by the one who reads it.
 */
export const createClickHouseAs = (
  url: string,
  {
    ca,
    requestTimeout,
    maxConnections,
  }: Trust & {
    requestTimeout: number
    maxConnections: number
  },
) => {
  const openIn = (database: string) =>
    createClient({
      url: withoutLogin(url),
      // Nobody has this name: a question whose login was lost would be refused.
      username: 'nobody-by-default',
      password: '',
      database,
      ...(ca && { tls: { ca_cert: Buffer.from(ca) } }),
      request_timeout: requestTimeout,
      max_open_connections: maxConnections,
      keep_alive: { enabled: true, idle_socket_ttl: 2_000 },
      log: { LoggerClass: SilentLogger },
    })
  // A client names one database with every question.
  const clients = new Map<string, ReturnType<typeof openIn>>()
  const clientFor = (database: string) => {
    const client = clients.get(database) ?? openIn(database)
    clients.set(database, client)
    return client
  }
  return {
    ask: async ({ login: { database, ...auth }, sql, settings, signal }: RawQuestion): Promise<RawAnswer> => {
      const { stream, summary, response_headers } = await clientFor(database).exec({
        query: sql,
        auth,
        clickhouse_settings: settings,
        abort_signal: signal,
      })
      const read = (name: string): string | undefined => {
        const value = response_headers[name]
        return Array.isArray(value) ? value[0] : value
      }
      return {
        format: read('x-clickhouse-format'),
        rowsRead: numberOf(summary?.read_rows),
        bytesRead: numberOf(summary?.read_bytes),
        exceptionTag: read('x-clickhouse-exception-tag'),
        stream,
      }
    },
    close: async () => {
      await Promise.all([...clients.values()].map((client) => client.close()))
    },
  }
}

const withoutLogin = (url: string): string => {
  const address = new URL(url)
  address.username = ''
  address.password = ''
  address.search = ''
  return address.href
}

const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text))
