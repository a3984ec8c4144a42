import { readAnalytics } from '../../derive/scopes.js'
import { answered, endpoint } from '../endpoint.js'
import { errorAnswer } from '../errors.js'
import * as v from '../values.js'
import { longestQuery, queryText } from './sql.js'

// Queries that people of an organisation share. They are texts: nothing runs them but a person who asks for it.

/** How many an organisation may have. */
export const mostQueries = 100

// No slash, which would end this part of the address; no character that moves the cursor; and no space around it.
export const queryNamePattern = '^(?! )[^\\x00-\\x1f\\x7f/]{1,60}(?<! )$'
const name = v.text('what people call it', { pattern: queryNamePattern })

const savedQuery = v.named('SavedQuery', {
  name: v.text('what people call it'),
  query: v.text(),
  about: v.nullable(v.text(), 'what it answers'),
  version: v.integer(1, 'grows by one each time that it is saved'),
  saved_at: v.instant,
  saved_by: v.text('the name of the key that saved it last, or the id of a key without a name'),
})

export const listQueries = endpoint('GET', '/v1/queries', 'list-queries', 'analytics', {
  summary: 'The saved queries of your organisation',
  about: 'In the order of their names. What each answers, nobody but you asks: see `POST /v1/sql`.',
  scope: readAnalytics,
  answers: answered('All of them.', v.object({ queries: v.list(savedQuery) })),
})

export const saveQuery = endpoint('PUT', '/v1/queries/{name}', 'save-query', 'analytics', {
  summary: 'Save a query for everybody in your organisation',
  about: `A new one without \`version\`; one that is there with the \`version\` that you know, so that nobody undoes what somebody else has saved meanwhile. An organisation has at most ${mostQueries}. The scope is that of reading: a saved query is a text that shows nothing by itself, and whoever may ask may share what they ask.`,
  scope: readAnalytics,
  parameters: { name },
  body: {
    schema: v.closed({
      query: queryText(`at most ${longestQuery} characters`),
      about: v.optional(
        v.nullable(
          v.text(undefined, {
            pattern: '^[\\s\\S]{0,500}$',
            refusal: 'about must be a text of at most 500 characters',
          }),
          'what it answers',
        ),
      ),
      version: v.optional(
        v.integer(1, 'the one that is replaced', {
          maximum: 2_147_483_647,
          refusal: 'version must be the version of the saved query that is replaced',
        }),
      ),
    }),
    example: { query: 'select day, sum(amount) from sales_by_day group by day', about: 'What is sold, by day' },
  },
  answers: {
    200: { about: 'It is saved.', schema: savedQuery },
    409: errorAnswer(
      409,
      'There is one of this name already, somebody else has saved or deleted it meanwhile, or there are too many.',
    ),
  },
})

export const deleteQuery = endpoint('DELETE', '/v1/queries/{name}', 'delete-query', 'analytics', {
  summary: 'Delete a saved query, for everybody in your organisation',
  scope: readAnalytics,
  parameters: { name },
  answers: answered('It is gone.', v.object({ name: v.text() })),
})
