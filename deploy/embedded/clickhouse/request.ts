import { createHash, randomUUID, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { maskedDatabase } from '#schemas/derive/names.js'
import type { Logins } from './analysts/logins.js'
import { readBody } from './body.js'
import { refusal } from './errors.js'

/** What the address and the headers of a request ask for. */
export type QueryRequest = {
  query: string
  queryId: string
  database: string | undefined
  defaultFormat: string
  settings: Map<string, string>
  readonly: string | undefined
  /** The role of access.xml whose rights alone the statement has. */
  role?: string
  user: User
  bodyEncoding: string
  /** Aborted when the client goes away before its answer. */
  gone: AbortSignal
}

/** Reads the address and headers; a parameter that is none of the interface's own is a setting. */
export const readRequest = (
  request: IncomingMessage,
  parameters: URLSearchParams,
  user: User,
  gone: AbortSignal,
): QueryRequest => {
  const unsupported = ['compress', 'decompress'].find((name) => isOn(parameters.get(name)))
  const instead = "(ClickHouse's own block format) is not supported here; use Content-Encoding and Accept-Encoding"
  if (unsupported) throw refusal(48, 'NOT_IMPLEMENTED', `The parameter ${unsupported} ${instead}`)
  const settings = new Map([...parameters].filter(([name]) => !NOT_SETTINGS.has(name)))
  const asked = settings.get('readonly')
  settings.delete('readonly')
  // Other values than these two may be a nought, however it is written.
  const isLocked = asked === '1' || asked === '2'
  if (!user.mayWrite && asked !== undefined && !isLocked)
    throw refusal(164, 'READONLY', "Cannot modify 'readonly' setting in readonly mode")
  const isReading = !user.mayWrite || request.method === 'GET' || request.method === 'HEAD'
  return {
    query: parameters.get('query') ?? '',
    queryId: parameters.get('query_id') || header(request.headers, 'x-clickhouse-query-id') || randomUUID(),
    database:
      header(request.headers, 'x-clickhouse-database') ||
      parameters.get('database') ||
      (user.isMasked ? maskedDatabase : undefined),
    ...(user.isMasked && { role: 'masked' }),
    defaultFormat: parameters.get('default_format') || header(request.headers, 'x-clickhouse-format') || 'TabSeparated',
    settings,
    readonly: isReading && !isLocked ? '2' : asked,
    user,
    gone,
    bodyEncoding: readEncoding(header(request.headers, 'content-encoding')),
  }
}

/**
 * Clients put long parameters into a form instead of the address (@clickhouse/client does so by itself). The form's fields are
 * added to `parameters`; what is returned is the body without the form: empty, or the request itself where there was no form.
 */
export const readForm = async (asked: IncomingMessage, parameters: URLSearchParams): Promise<Readable> => {
  const type = asked.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\b/i.test(type)) return asked
  const { text } = await readBody('', asked)
  const bytes = Buffer.from(await text(), 'latin1')
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => {
    throw refusal(36, 'BAD_ARGUMENTS', 'The form in the body cannot be read')
  })
  for (const [name, value] of form) {
    if (typeof value !== 'string')
      throw refusal(48, 'NOT_IMPLEMENTED', 'External data (a file in a form) is not supported here')
    parameters.set(name, value)
  }
  return Readable.from([])
}

/** Analysts only read: `default` the rows of every organisation, others those of their own. Weir's own services are `weir`. */
export type User = { name: string; mayWrite: boolean; org?: string; isMasked?: boolean }

export type Passwords = { password: string; weirPassword: string }

/** Who sends the request; throws ClickHouse's own refusal for anybody who is no user. */
export const identify = (
  headers: IncomingHttpHeaders,
  parameters: URLSearchParams,
  passwords: Passwords,
  logins: Pick<Logins, 'find'>,
): User => {
  const given = fromHeaders(headers) ?? fromAuthorization(headers.authorization) ?? fromParameters(parameters)
  const { user: name, password } = given
  if (name === 'default' && isSame(password, passwords.password)) return { name, mayWrite: false }
  if (name === 'weir' && isSame(password, passwords.weirPassword)) return { name, mayWrite: true }
  const login = logins.find(name, password)
  if (login) return { name, mayWrite: false, org: login.org, isMasked: login.masked }
  const problem = 'Authentication failed: password is incorrect, or there is no user with such name.'
  throw refusal(516, 'AUTHENTICATION_FAILED', `${name}: ${problem}`)
}

type Credentials = { user: string; password: string }

const fromHeaders = (headers: IncomingHttpHeaders): Credentials | undefined => {
  const user = header(headers, 'x-clickhouse-user')
  const password = header(headers, 'x-clickhouse-key')
  if (user === undefined && password === undefined) return undefined
  return { user: user || 'default', password: password ?? '' }
}

const fromAuthorization = (authorization: string | undefined): Credentials | undefined => {
  if (authorization === undefined) return undefined
  const encoded = /^Basic\s+(\S*)$/i.exec(authorization.trim())?.[1]
  if (encoded === undefined) throw refusal(516, 'AUTHENTICATION_FAILED', 'Only Basic authorization is supported')
  const [user = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return { user: user || 'default', password: rest.join(':') }
}

const fromParameters = (parameters: URLSearchParams): Credentials => ({
  user: parameters.get('user') || 'default',
  password: parameters.get('password') ?? '',
})

// Digests have one length, so the comparison takes the same time for every guess.
const isSame = (one: string, other: string) => timingSafeEqual(digest(one), digest(other))
const digest = (text: string) => createHash('sha256').update(text).digest()

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

const NOT_SETTINGS = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'user',
  'password',
  'quota_key',
  'role',
  'stacktrace',
  'session_id',
  'session_timeout',
  'session_check',
  'close_session',
  'compress',
  'decompress',
  'buffer_size',
  'wait_end_of_query',
  'client_protocol_version',
  'http_method',
  'jwt',
])
