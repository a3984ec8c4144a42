import { type RequestError, requestError, tryLater } from '#http/request-error.js'
import type { Reader } from '#rejections/find-rejections.js'
import type { MartStatement } from './statement.js'

export type MartRow = Record<string, unknown>

/** The rows that a statement asks for; what is wrong with the question is a value. */
export type ReadMartRows = (
  statement: Pick<MartStatement, 'sql' | 'values' | 'settings'>,
) => Promise<MartRow[] | { error: RequestError }>

// Money is text, because JavaScript's numbers would round it; how many there are of something is a number.
const asAnswered = {
  output_format_json_quote_decimals: 1,
  output_format_json_quote_64bit_integers: 0,
  date_time_output_format: 'iso',
}

export const createReadMartRows =
  (clickhouse: Reader): ReadMartRows =>
  async ({ sql, values, settings }) => {
    try {
      return await clickhouse.query<MartRow>(sql, values, { ...asAnswered, ...settings })
    } catch (error) {
      const refusal = refusals.get(String((error as { code?: unknown }).code))
      if (refusal) return { error: refusal }
      throw error
    }
  }

const less = 'ask for fewer days with from and to, for one shop with shop_id, or ask ClickHouse itself'
const tooMuch = requestError(400, `this reads more than may be read at once; ${less}`)
const tooLong = tryLater(503, `this takes longer than an answer may take; ${less}; retrying is safe`)
const notAValue = requestError(
  400,
  'a value that this mart is asked with cannot be read; GET /v1/marts has an example of each',
)

/** By ClickHouse's own codes. */
const refusals = new Map<string, RequestError>([
  // TOO_MANY_ROWS and MEMORY_LIMIT_EXCEEDED: the same question would fail the same way.
  ['158', tooMuch],
  ['241', tooMuch],
  // TIMEOUT_EXCEEDED
  ['159', tooLong],
  // CANNOT_PARSE_TEXT, CANNOT_PARSE_DATE and CANNOT_PARSE_DATETIME
  ['6', notAValue],
  ['38', notAValue],
  ['41', notAValue],
])
