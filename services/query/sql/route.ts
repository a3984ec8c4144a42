import { pipeline, type Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import { type RequestError, requestError } from '#http/request-error.js'
import type { RawAnswer } from '#platform/clickhouse-as.js'
import type { Catalogue } from '#schemas/catalogue.js'
import {
  analystPassword,
  answeredWithin,
  csvType,
  downloadedWithin,
  longestQuery,
  parquetType,
  runSql,
} from '#schemas/endpoints/sql/sql.js'
import type { Reads } from '../reads.js'
import type { AskAnalyst } from './ask-analyst.js'
import { readRows } from './read-rows.js'
import { tooLong, toRefusal } from './refusals.js'
import { wholeFile } from './whole-file.js'

export type SqlDeps = { catalogue: Catalogue; askAnalyst: AskAnalyst; sqlReads: Reads }

// The texts of all rows of an answer, in characters.
const mostBytes = 8_000_000
// For ClickHouse to end a query by itself, and to say so.
const spare = 5_000

/** POST /v1/sql: a query of an analyst's own, answered as JSON or as a download. */
export const addSql = (app: FastifyInstance, deps: SqlDeps): void => {
  const run = on(
    runSql,
    ({ body: { query, limit } }, request, reply) => {
      const { orgId } = callerOf(request)
      const password = request.headers[analystPassword.toLowerCase()]
      if (typeof password !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(password))
        return Promise.resolve({ error: noPassword })
      reply.header('vary', 'accept')
      const asked = { orgId, password, query, limit }
      const format = downloadOf(request)
      return deps.sqlReads(orgId, () =>
        format ? download(deps, { ...asked, ...format }, reply) : answer(deps, asked, reply),
      )
    },
    // A character may take four bytes, and be written with six in JSON.
    { bodyLimit: longestQuery * 6 + 1024 },
  )
  addEndpoints(app, deps.catalogue, [run])
}

type Asked = { orgId: string; password: string; query: string; limit: number }
type Download = { format: 'CSVWithNames' | 'Parquet'; type: string; file: string }

const downloadOf = ({ headers }: FastifyRequest): Download | undefined => {
  const accepted = headers.accept?.toLowerCase() ?? ''
  if (accepted.includes(parquetType)) return { format: 'Parquet', type: parquetType, file: 'query.parquet' }
  return accepted.includes(csvType)
    ? { format: 'CSVWithNames', type: `${csvType}; charset=utf-8`, file: 'query.csv' }
    : undefined
}

const answer = async ({ askAnalyst }: SqlDeps, asked: Asked, reply: FastifyReply) => {
  const begun = performance.now()
  const format = 'JSONCompactEachRowWithNamesAndTypes'
  const ending = endingOf(reply, answeredWithin)
  try {
    const found = await askAnalyst({ ...asked, format, seconds: answeredWithin, signal: ending.signal })
    const problem = problemWith(found, format)
    if (problem) return { error: problem }
    const stop = () => found.stream.destroy()
    ending.signal.addEventListener('abort', stop, { once: true })
    const {
      columns,
      rows,
      truncated,
      problem: late,
    } = await readRows(found.stream, {
      rows: asked.limit,
      bytes: mostBytes,
    })
    // Ends a query that has more to say.
    found.stream.destroy()
    if (late !== undefined) throw lateError(late)
    const rest = {
      truncated,
      rows_read: found.rowsRead ?? null,
      bytes_read: found.bytesRead ?? null,
      seconds: Math.round(performance.now() - begun) / 1000,
    }
    const text = `{"columns":${JSON.stringify(columns)},"rows":[${rows.join(',')}],${JSON.stringify(rest).slice(1)}\n`
    return await reply.type('application/json; charset=utf-8').serializer(String).send(text)
  } catch (error) {
    return { error: refusalOf(error, asked, ending.signal) }
  } finally {
    ending.done()
  }
}

/** Sends the result as it comes: no more of it is read from ClickHouse than the caller has taken. */
const download = async (
  { askAnalyst }: SqlDeps,
  { format, type, file, ...asked }: Asked & Download,
  reply: FastifyReply,
) => {
  const ending = endingOf(reply, downloadedWithin)
  try {
    const found = await askAnalyst({ ...asked, format, seconds: downloadedWithin, signal: ending.signal })
    const problem = problemWith(found, format)
    if (problem) return { error: problem }
    const whole = wholeFile(format, found.exceptionTag)
    // What goes wrong here ends both streams, and with them the connection.
    pipeline(found.stream, whole, () => {})
    ending.signal.addEventListener('abort', () => whole.destroy(), { once: true })
    // The turn is over when all of it is sent.
    return await reply
      .type(type)
      .header('content-disposition', `attachment; filename="${file}"`)
      .send(whole satisfies Readable)
  } catch (error) {
    return { error: refusalOf(error, asked, ending.signal) }
  } finally {
    ending.done()
  }
}

/** Aborted when the caller goes away, and when the query should have ended long ago. */
const endingOf = (reply: FastifyReply, seconds: number) => {
  const ended = new AbortController()
  const gone = () => ended.abort()
  const timer = setTimeout(() => ended.abort(tooLong), seconds * 1000 + spare)
  reply.raw.once('close', gone)
  // The connection is silent for as long as the query takes. With the next request Node sets the usual time again.
  reply.raw.setTimeout(seconds * 1000 + 2 * spare, gone)
  return {
    signal: ended.signal,
    done: () => {
      clearTimeout(timer)
      reply.raw.off('close', gone)
    },
  }
}

const refusalOf = (error: unknown, asked: Asked, signal: AbortSignal): RequestError => {
  if (signal.reason === tooLong) return tooLong
  const refusal = toRefusal(error, asked)
  if (refusal) return refusal
  throw error
}

/** An answer that is not of the format that was asked for is none: the query has a FORMAT of its own, or gives no rows. */
const problemWith = ({ format, stream }: RawAnswer, wanted: string): RequestError | undefined => {
  if (format === wanted) return undefined
  stream.destroy()
  return format === undefined ? noRows : ownFormat
}

/** The error that ClickHouse wrote behind the rows, as its client would have thrown it. */
const lateError = (text: string): Error => {
  const [, code, message = ''] = /Code: (\d+)\. DB::Exception: ([\s\S]*)/.exec(text) ?? []
  return Object.assign(new Error(message.replace(/ \([A-Z_]+\) \(version [\s\S]*$/, '')), { code: code ?? 'UNKNOWN' })
}

const noPassword = requestError(
  400,
  `send the password of your organisation's analyst in the header ${analystPassword}: 1 to 200 visible ASCII characters`,
)
const noRows = requestError(400, 'this statement gives no rows; send one that reads, such as SELECT')
const ownFormat = requestError(
  400,
  `leave FORMAT out of the query: the header Accept chooses application/json, ${csvType} or ${parquetType}`,
)
