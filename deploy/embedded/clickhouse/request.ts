import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { refusal } from './errors.js'

/** What the address and the headers of a request ask for. */
export type QueryRequest = {
  query: string
  queryId: string
  database: string | undefined
  defaultFormat: string
  settings: Map<string, string>
  readonly: string | undefined
  bodyEncoding: string
  /** Aborted when the client goes away before its answer. */
  gone: AbortSignal
}

/** Reads the address and headers; a parameter that is none of the interface's own is a setting. */
export const readRequest = (request: IncomingMessage, parameters: URLSearchParams, gone: AbortSignal): QueryRequest => {
  for (const name of ['compress', 'decompress'])
    if (isOn(parameters.get(name)))
      throw refusal(
        48,
        'NOT_IMPLEMENTED',
        `The parameter ${name} (ClickHouse's own block format) is not supported here; use Content-Encoding and Accept-Encoding`,
      )
  const settings = new Map([...parameters].filter(([name]) => !NOT_SETTINGS.has(name)))
  const asked = settings.get('readonly')
  settings.delete('readonly')
  const isReading = request.method === 'GET' || request.method === 'HEAD'
  return {
    query: parameters.get('query') ?? '',
    queryId: parameters.get('query_id') || header(request.headers, 'x-clickhouse-query-id') || randomUUID(),
    database: header(request.headers, 'x-clickhouse-database') || parameters.get('database') || undefined,
    defaultFormat: parameters.get('default_format') || header(request.headers, 'x-clickhouse-format') || 'TabSeparated',
    settings,
    readonly: isReading && (asked === undefined || asked === '0') ? '2' : asked,
    gone,
    bodyEncoding: readEncoding(header(request.headers, 'content-encoding')),
  }
}

export const header = (headers: IncomingHttpHeaders, name: string): string | undefined => {
  const value = headers[name]
  return Array.isArray(value) ? value[0] : value
}

const isOn = (value: string | null) => value !== null && value !== '0' && value !== 'false'

const readEncoding = (value: string | undefined): string => {
  const encoding = value?.trim().toLowerCase() || 'identity'
  if (!ENCODINGS.has(encoding)) throw refusal(48, 'NOT_IMPLEMENTED', `Unknown compression method: ${encoding}`)
  return encoding
}

const ENCODINGS = new Set(['identity', 'gzip', 'x-gzip', 'deflate', 'br', 'zstd', 'lz4', 'xz', 'bz2', 'snappy'])

// biome-ignore format: a list
const NOT_SETTINGS = new Set([
  'query', 'query_id', 'database', 'default_format', 'user', 'password', 'quota_key', 'role', 'stacktrace',
  'session_id', 'session_timeout', 'session_check', 'close_session', 'compress', 'decompress', 'buffer_size',
  'wait_end_of_query', 'client_protocol_version', 'http_method', 'jwt',
])
