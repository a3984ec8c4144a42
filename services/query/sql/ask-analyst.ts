import type { ClickHouseAs, ClickHouseLogin, RawAnswer } from '#platform/clickhouse-as.js'
import { analystOf, maskedPassword } from '#schemas/derive/analysts.js'
import { database, maskedDatabase } from '#schemas/derive/names.js'

export type AnalystQuestion = {
  orgId: string
  password: string
  query: string
  format: string
  /** How many rows are answered; a download has all. */
  limit: number
  /** How long it may take. */
  seconds: number
  signal: AbortSignal
}

/** Asks ClickHouse as the analyst of an organisation. Throws ClickHouse's own error. */
export type AskAnalyst = (question: AnalystQuestion) => Promise<RawAnswer>

type Options = {
  /** Whether the tables are spread over several servers. */
  isCluster: boolean
}

export const createAskAnalyst =
  ({ ask }: Pick<ClickHouseAs, 'ask'>, { isCluster }: Options): AskAnalyst =>
  ({ orgId, password, query, format, limit, seconds, signal }) =>
    ask({
      login: loginOf(orgId, password),
      sql: query,
      settings: {
        default_format: format,
        ...sent,
        max_execution_time: seconds,
        ...(format.startsWith('JSON') && !isCluster && bounded(limit)),
      },
      signal,
    })

/** The password says which of the organisation's two analysts asks. */
export const loginOf = (orgId: string, password: string): ClickHouseLogin => {
  const isMasked = password.startsWith(maskedPassword)
  return { username: analystOf(orgId, isMasked), password, database: isMasked ? maskedDatabase : database }
}

const sent = {
  // Otherwise a server goes on with a query whose caller has gone.
  cancel_http_readonly_queries_on_client_close: 1,
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_denormals: 1,
  output_format_json_validate_utf8: 1,
  date_time_output_format: 'iso',
}

/**
 * ClickHouse ends the result behind the block with the last row that is answered, and answers when it has ended: then the status is right,
 * and what was read is known. The setting `limit` would not do: it also cuts what EXCEPT and INTERSECT compare, and so changes the
 * answer. On a cluster neither is sent, since a server could cut the part that it gives to another one; there the edge itself stops reading.
 */
const bounded = (limit: number) => ({
  max_result_rows: limit + 1,
  result_overflow_mode: 'break',
  wait_end_of_query: 1,
})
