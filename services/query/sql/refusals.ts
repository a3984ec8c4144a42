import { type RequestError, requestError, tryLater } from '#http/request-error.js'
import { maskedPassword } from '#schemas/derive/analysts.js'
import { analystPassword, answeredWithin } from '#schemas/endpoints/sql/sql.js'
import { loginOf } from './ask-analyst.js'

/** Why ClickHouse did not answer a query, as its sender reads it; undefined where that is not about the query. */
export const toRefusal = (error: unknown, asker: Asker): RequestError | undefined => {
  const { code, message } = error as { code?: unknown; message?: unknown }
  // ClickHouse's own errors have a number; those of the network have a word.
  if (!/^\d+$/.test(String(code))) return undefined
  const number = Number(code)
  if (loginRefused.has(number)) return noLogin(asker)
  if (notOfTheQuery.has(number)) return undefined
  return byCode.get(number) ?? requestError(400, shorten(String(message)))
}

type Asker = { orgId: string; password: string }

const noLogin = ({ orgId, password }: Asker): RequestError =>
  requestError(
    403,
    `ClickHouse does not let ${loginOf(orgId, password).username} in with this password (${analystPassword}): it may be mistyped, or there is no such analyst yet; an operator makes one, and its password, with: weir analysts create --org ${orgId}${password.startsWith(maskedPassword) ? ' --masked' : ''}`,
  )

const less = 'ask for fewer days or fewer columns, sum in the query, or read a mart'

export const tooLong = requestError(
  504,
  `the query takes longer than it may (${answeredWithin} seconds, and 2 minutes as a download); ${less}`,
)
const tooMuchMemory = tryLater(503, `the query needs more memory than it may take; ${less}`)
const tooManyAtOnce = tryLater(503, 'too many queries of this analyst run at this moment; retrying is safe')
const cancelled = tryLater(503, 'the query was cancelled in ClickHouse; retrying is safe')

// UNKNOWN_USER, WRONG_PASSWORD, REQUIRED_PASSWORD, IP_ADDRESS_NOT_ALLOWED and AUTHENTICATION_FAILED
const loginRefused = new Set([192, 193, 194, 195, 516])

const byCode = new Map<number, RequestError>([
  // TIMEOUT_EXCEEDED and TOO_SLOW
  [159, tooLong],
  [160, tooLong],
  // MEMORY_LIMIT_EXCEEDED
  [241, tooMuchMemory],
  // TOO_MANY_SIMULTANEOUS_QUERIES and QUOTA_EXCEEDED
  [202, tooManyAtOnce],
  [201, tooManyAtOnce],
  // QUERY_WAS_CANCELLED
  [394, cancelled],
])

// What another query would meet as well: files and disks (74 to 76, 243), the network between servers (209, 210, 279), Keeper (999), a
// table that only reads (242), a fault of ClickHouse's own (49, 1000 to 1002).
const notOfTheQuery = new Set([49, 74, 75, 76, 209, 210, 242, 243, 279, 999, 1000, 1001, 1002])

const longest = 600

/** ClickHouse's own words without what helps nobody here: whole statements, versions, users, addresses and stack traces. */
export const shorten = (message: string): string => {
  const said = message
    .replace(/Stack trace:[\s\S]*$/, '')
    .replace(/^(?:Code: \d+\. )?(?:DB::Exception: )+/, '')
    .replace(/^Received from \S+\. (?:DB::Exception: )?/, '')
    .replace(/^(?:default|analyst_[\w-]+): /, '')
    .replace(/ \(version [^)]*\)?\)/g, '')
    // It repeats the query, and a view's own text where a view is asked.
    .replace(/[.:]?\s+(?:In|in) scope [\s\S]*?(?=\. Maybe you meant|$)/, '')
    .replace(/:? While (?:processing|executing) [\s\S]*$/, '')
    .replace(/Expected one of: [\s\S]*$/, (list) => (list.length > 200 ? '' : list))
    .replace(/\b(?:\d{1,3}\.){3}\d{1,3}:\d+\b/g, 'the server')
    .trim()
    .replace(/[.:;,]+$/, '')
  const text = said.length > longest ? `${said.slice(0, longest)} …` : said
  return text || 'ClickHouse refuses this query without a reason'
}
