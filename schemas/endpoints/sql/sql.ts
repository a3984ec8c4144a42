import { readAnalytics } from '../../derive/scopes.js'
import { endpoint } from '../endpoint.js'
import { errorAnswer, retryAfter } from '../errors.js'
import * as v from '../values.js'

// Questions of an analyst's own, in SQL.

/** The header with the password of the organisation's analyst. */
export const analystPassword = 'Weir-Analyst-Password'

/** As many characters as the text of a query may have, here and where it is saved. */
export const longestQuery = 20_000
export const queryText = (about: string) =>
  v.text(about, {
    pattern: `^[\\s\\S]{1,${longestQuery}}$`,
    refusal: `query must be a text of 1 to ${longestQuery} characters`,
  })

/** The media types of downloads. */
export const csvType = 'text/csv'
export const parquetType = 'application/vnd.apache.parquet'

/** How many seconds a query may take: one whose rows are answered as JSON, and one whose result is downloaded. */
export const answeredWithin = 60
export const downloadedWithin = 120

const sqlRows = v.named(
  'SqlRows',
  {
    columns: v.list(v.object({ name: v.text(), type: v.text('in ClickHouse') }), 'those of the rows, in their order'),
    rows: v.list(
      v.list(v.anything()),
      'each a list of values; decimals and whole numbers of 64 bits or more are text, so that they stay exact',
    ),
    truncated: v.flag('whether there are more rows than these: than `limit`, or than 8 MB of them'),
    rows_read: v.nullable(v.count(), 'how many rows ClickHouse read for it; null where it does not tell'),
    bytes_read: v.nullable(v.count(), 'how many bytes these were; null where it does not tell'),
    seconds: v.meaning(v.number, 'how long it took'),
  },
  {
    examples: [
      {
        columns: [
          { name: 'region', type: 'LowCardinality(String)' },
          { name: 'amount', type: 'Decimal(38, 9)' },
        ],
        rows: [
          ['FR', '3.3'],
          ['GB', '18.9'],
        ],
        truncated: false,
        rows_read: 7,
        bytes_read: 512,
        seconds: 0.021,
      },
    ],
  },
)

export const runSql = endpoint('POST', '/v1/sql', 'run-sql', 'analytics', {
  summary: 'Run a query of your own',
  about: `One statement of ClickHouse's SQL that reads, without FORMAT, run as the analyst of your organisation: an operator makes this user with \`weir analysts create --org …\`, and its password comes with the request. So it sees your organisation's rows alone, as in any other tool, and names the tables with or without the database \`weir\`. With the password of a masked analyst (\`--masked\`) it sees no persons: it names the same views without a database, or in \`weir_masked\`. With \`Accept: ${csvType}\` or \`Accept: ${parquetType}\` the whole result is a download; where something goes wrong in the middle of it, the connection ends before the download is complete. A query takes at most ${answeredWithin} seconds, a download ${downloadedWithin}; a query whose caller goes away is cancelled.`,
  scope: readAnalytics,
  headers: {
    [analystPassword]: v.text("the password of your organisation's analyst", {
      pattern: '^[\\x21-\\x7e]{1,200}$',
      examples: ['3kTMd2ZyR0vXcQ8bWm5nJp7L'],
    }),
  },
  body: {
    schema: v.closed({
      query: queryText('one statement that reads'),
      limit: v.limitTo(10_000, 1000),
    }),
    example: { query: 'select region, sum(amount) as amount from sales_by_day group by region order by region' },
  },
  answers: {
    200: {
      about: 'The rows.',
      schema: sqlRows,
      content: {
        'application/json': { schema: sqlRows },
        [csvType]: {
          schema: v.text('the names of the columns, then a line for each row; all rows, whatever `limit` is'),
          example: '"region","amount"\n"FR",3.3\n"GB",18.9\n',
        },
        [parquetType]: { schema: v.text('a Parquet file; all rows', { format: 'binary' }) },
      },
    },
    400: errorAnswer(400, 'The request is wrong, or ClickHouse refuses the query: the message is its own.', {
      message: 'Unknown expression identifier `amont`. Maybe you meant: [`amount`]',
    }),
    403: errorAnswer(
      403,
      'The key lacks the scope, or ClickHouse does not let the analyst in: there is none, or the password is another.',
    ),
    503: {
      ...errorAnswer(503, 'The query needs too much memory, too much is asked at this moment, or a part is away.'),
      headers: retryAfter,
    },
    504: errorAnswer(504, 'The query takes longer than it may.'),
  },
})
