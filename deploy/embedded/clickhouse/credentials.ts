import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { refusal } from './errors.js'
import { header } from './request.js'

/** There is one user, `default`; throws ClickHouse's own refusal for anybody else. */
export const checkCredentials = (headers: IncomingHttpHeaders, parameters: URLSearchParams, password: string): void => {
  const given = fromHeaders(headers) ?? fromAuthorization(headers.authorization) ?? fromParameters(parameters)
  if (given.user === 'default' && isSame(given.password, password)) return
  throw refusal(
    516,
    'AUTHENTICATION_FAILED',
    `${given.user}: Authentication failed: password is incorrect, or there is no user with such name.`,
  )
}

type Given = { user: string; password: string }

const fromHeaders = (headers: IncomingHttpHeaders): Given | undefined => {
  const user = header(headers, 'x-clickhouse-user')
  const password = header(headers, 'x-clickhouse-key')
  return user === undefined && password === undefined
    ? undefined
    : { user: user || 'default', password: password ?? '' }
}

const fromAuthorization = (authorization: string | undefined): Given | undefined => {
  if (authorization === undefined) return undefined
  const encoded = /^Basic\s+(\S*)$/i.exec(authorization.trim())?.[1]
  if (encoded === undefined) throw refusal(516, 'AUTHENTICATION_FAILED', 'Only Basic authorization is supported')
  const [user = '', ...rest] = Buffer.from(encoded, 'base64').toString('utf8').split(':')
  return { user: user || 'default', password: rest.join(':') }
}

const fromParameters = (parameters: URLSearchParams): Given => ({
  user: parameters.get('user') || 'default',
  password: parameters.get('password') ?? '',
})

// Digests have one length, so the comparison takes the same time for every guess.
const isSame = (one: string, other: string) => timingSafeEqual(digest(one), digest(other))
const digest = (text: string) => createHash('sha256').update(text).digest()
