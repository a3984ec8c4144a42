import { readAnalytics } from '../derive/scopes.js'
import { marts } from '../marts/all.js'
import { answered, endpoint } from './endpoint.js'
import * as v from './values.js'

// The marts: which there are, and an organisation's own rows of one, as they are or summed.

const columnReference = v.named('ColumnReference', {
  name: v.text(),
  type: v.text('in ClickHouse'),
  about: v.text('what it means'),
})

const examples: v.Schema<Readonly<Record<string, string>>> = {
  type: 'object',
  additionalProperties: { type: 'string' },
}

const martReference = v.named('MartReference', {
  name: v.text("the view's name in ClickHouse's database `weir`, and in the address of its rows"),
  about: v.text('the question that it answers'),
  grain: v.text('what one row stands for'),
  columns: v.list(columnReference),
  asked: v.nullable(examples, 'where it is asked with values: an example of each; null for all others'),
})

export const listMarts = endpoint('GET', '/v1/marts', 'list-marts', 'reference', {
  summary: 'Every mart, with its columns',
  about: 'Ready answers for analysts, which are views in ClickHouse too. Their rows: `GET /v1/marts/{mart}`.',
  answers: answered('Every mart, with its columns', v.object({ marts: v.list(martReference) })),
})

const martRows = v.named(
  'MartRows',
  {
    mart: v.text(),
    columns: v.list(columnReference, 'those of the rows, in their order'),
    rows: v.list(
      v.anyObject(),
      'each with its values by the names of the columns; money is text, so that it stays exact',
    ),
    sql: v.text('the query that answers the same rows in ClickHouse'),
    truncated: v.flag('whether there are more rows than `limit`'),
  },
  {
    examples: [
      {
        mart: 'sales_by_day',
        columns: [
          { name: 'day', type: 'Date32', about: 'the day of the transactions' },
          { name: 'amount', type: 'Decimal(38, 9)', about: 'how much was paid' },
          { name: 'rows', type: 'UInt64', about: 'how many rows of the mart these are' },
        ],
        rows: [{ day: '2026-03-01', amount: '10.3', rows: 1 }],
        sql: "select day, sum(amount) as amount, count() as rows\nfrom weir.sales_by_day\nwhere org_id = 'acme'\ngroup by day\norder by day\nlimit 1000",
        truncated: false,
      },
    ],
  },
)

const having = (name: string): string =>
  marts.flatMap((mart) => (mart.columns[name] ? [`\`${mart.name}\``] : [])).join(', ')

const columnList = (about: string, example: string) =>
  v.optional(
    v.text(about, {
      examples: [example],
      pattern: '^[a-z][a-z0-9_]{0,63}(,[a-z][a-z0-9_]{0,63}){0,19}$',
      refusal: 'columns are named with commas between them, such as day,region',
    }),
  )

/** The values that some marts are asked with, each as text. */
const askedValues: Readonly<Record<string, ReturnType<typeof v.optional<string>>>> = Object.fromEntries(
  marts.flatMap(({ name, asked = {} }) =>
    Object.entries(asked).map(([value, example]) => [
      value,
      v.optional(
        v.text(`for \`${name}\` alone, which needs it; such as ${example}`, { pattern: '^[^\\x00-\\x1f]{1,100}$' }),
      ),
    ]),
  ),
)

export const readMart = endpoint('GET', '/v1/marts/{mart}', 'read-mart', 'analytics', {
  summary: 'Your rows of a mart',
  about:
    "Your own organisation's only, a moment behind. With `by` or `sum` the rows are summed before they are answered: one row for each combination of the columns in `by`, with the sums of those in `sum`, and `rows`, how many rows of the mart it stands for. A sum of how many different people there are counts one of them once in each row of the mart. With `Accept: text/csv` the same rows as CSV, the names of the columns in its first line.",
  scope: readAnalytics,
  parameters: { mart: v.oneOf(marts.map(({ name }) => name)) },
  query: {
    from: v.optional(v.meaning(v.day, `the first day; for ${having('day')}`)),
    to: v.optional(v.meaning(v.day, 'the last day; for the same')),
    region: v.optional(
      v.text(`only this 2-letter country code; for ${having('region')}`, {
        pattern: '^[A-Z]{2}$',
        refusal: 'region must be a 2-letter country code, like GB',
      }),
    ),
    shop_id: v.optional(
      v.meaning(v.uuid, `only this shop; for ${having('shop_id')}`, 'shop_id must be the id of a shop'),
    ),
    by: columnList('the columns whose values are kept apart', 'day,region'),
    sum: columnList('the columns that are summed: numbers of things, and money', 'amount,transactions'),
    order: v.optional(
      v.text('the column to order by, with `-` before it for the largest first; otherwise by the first columns', {
        pattern: '^-?[a-z][a-z0-9_]{0,63}$',
        refusal: 'order must be the name of a column, with - before it for the largest first',
        examples: ['-day'],
      }),
    ),
    ...askedValues,
    limit: v.limitTo(10_000, 1000),
  },
  answers: {
    200: {
      about: 'The rows.',
      schema: martRows,
      content: {
        'application/json': { schema: martRows },
        'text/csv': {
          schema: v.text('the names of the columns, then a line for each row'),
          example: 'day,amount,rows\n2026-03-01,10.3,1\n',
        },
      },
      headers: { 'Weir-Truncated': v.flag('of CSV: whether there are more rows than `limit`') },
    },
  },
})
