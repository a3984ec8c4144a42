import type { AnswerTo } from '../../../typescript/src/endpoints.js'
import { keepPassword, passwordOf } from '../../api/analyst-password.js'
import { AskError, messageOf } from '../../api/ask.js'
import type { ConsoleSession } from '../../api/session.js'

export type SqlAnswer = AnswerTo<'POST /v1/sql'>

/** The kinds of downloads. */
export const downloads = {
  csv: { words: 'CSV', accept: 'text/csv', file: 'query.csv' },
  parquet: { words: 'Parquet', accept: 'application/vnd.apache.parquet', file: 'query.parquet' },
} as const

type Asked = { query: string; signal: AbortSignal }

export const runQuery = ({ ask, me }: ConsoleSession, { query, signal }: Asked): Promise<SqlAnswer> =>
  ask<SqlAnswer>('/v1/sql', { method: 'POST', body: { query }, signal, headers: passwordHeader(me.org_id) })

/** The whole result as a file; it fails where the connection ends before the result does. */
export const downloadQuery = async (
  { key, me, connection, signOut }: ConsoleSession,
  { query, signal }: Asked,
  accept: string,
): Promise<Blob> => {
  const response = await fetch('/v1/sql', {
    method: 'POST',
    headers: {
      accept,
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...passwordHeader(me.org_id),
    },
    body: JSON.stringify({ query }),
    signal,
  }).catch((cause: unknown) => {
    if (signal.aborted) throw cause
    connection.lost()
    throw new AskError(0, 'no answer came from the service')
  })
  if (!response.ok) {
    const message = messageOf(response.status, await response.json().catch(() => undefined))
    if (response.status === 401) signOut(message)
    throw new AskError(response.status, message)
  }
  return response.blob().catch((cause: unknown) => {
    if (signal.aborted) throw cause
    throw new AskError(0, 'the download ended before the result did: run it again, or ask for less')
  })
}

const passwordHeader = (org: string) => ({ 'weir-analyst-password': passwordOf(org) ?? '' })

/** Whether the text can be a password; it is kept if so. */
export const takePassword = (org: string, text: string): boolean => {
  const isOne = /^[\x21-\x7e]{1,200}$/.test(text)
  if (isOne) keepPassword(org, text)
  return isOne
}
