import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import { ownRowsOnly } from './analysts/own-rows.js'
import { afterBytes, decoded, readBody, type Spool } from './body.js'
import type { Engine, StatementResult } from './engine.js'
import { ClickHouseError, refusal } from './errors.js'
import { checkReading, readsOnly } from './reading.js'
import type { QueryRequest } from './request.js'
import { type InsertStatement, literal, splitStatement } from './statement-split.js'

export type QueryAnswer = StatementResult & { format: string | undefined; isInsert: boolean }

/** Runs a request on the engine: a plain statement is passed as text, the data of an INSERT in a file. */
export const createRunner = ({ engine, spool }: { engine: Engine; spool: Spool }) => {
  const insertFromFile = async (insert: InsertStatement, path: string, compression: string, request: QueryRequest) => {
    try {
      const outcome = await engine.run(insert.readingFrom(path, compression), request.defaultFormat, request)
      return { ...outcome, format: undefined, isInsert: true }
    } finally {
      await spool.remove(path)
    }
  }

  /** Cancels the query when its client goes away: a query whose answer is not read could keep a thread for hours. */
  const cancellable = async (sql: string, request: QueryRequest) => {
    // People look at what their queries read; the services do not, and ask often.
    const run = request.user.mayWrite ? engine.run : engine.runMeasured
    // A client's own comment may be on several queries; cancelling by it could end the wrong one.
    if (request.settings.has('log_comment')) return run(sql, request.defaultFormat, request)
    const comment = randomUUID()
    const settings = new Map([...request.settings, ['log_comment', comment]])
    const cancel = () => engine.cancel(comment).catch(() => undefined)
    request.gone.addEventListener('abort', cancel, { once: true })
    try {
      return await run(sql, request.defaultFormat, { ...request, settings })
    } finally {
      request.gone.removeEventListener('abort', cancel)
    }
  }

  /** The request as it may be run for an analyst; throws where it may not. */
  const asReader = async (sql: string, request: QueryRequest): Promise<QueryRequest> => {
    const { org } = request.user
    await checkReading(engine, sql, request)
    const filters = org === undefined ? [] : await ownRowsOnly(engine, org)
    return { ...request, settings: new Map([...LIMITS, ...request.settings, ...filters]) }
  }

  const runDecoded = async (request: QueryRequest, body: Readable): Promise<QueryAnswer> => {
    const { head, all, text } = await readBody(request.query === '' ? '' : `${request.query}\n`, body)
    const start = splitStatement(head.toString('latin1'))
    if (start.kind === 'insert') {
      if (!request.user.mayWrite) throw readsOnly()
      return insertFromFile(start, await spool.write(afterBytes(all(), start.dataStart)), 'none', request)
    }
    const whole = splitStatement(await text())
    if (whole.kind === 'insert') throw refusal(229, 'QUERY_IS_TOO_LARGE', 'The INSERT statement is too long')
    if (whole.sql === '')
      throw refusal(62, 'SYNTAX_ERROR', 'Syntax error: failed at position 1 (end of query): Empty query.')
    const allowed = request.user.mayWrite ? request : await asReader(whole.sql, request)
    const outcome = await (whole.answersRows
      ? cancellable(whole.sql, allowed)
      : engine.run(whole.sql, allowed.defaultFormat, allowed))
    const format = whole.format ?? (whole.answersRows ? request.defaultFormat : undefined)
    return { ...outcome, format, isInsert: false }
  }

  /** Node 20 cannot unpack zstd, lz4 and a few others: the engine unpacks such a body into a file, which is then read. */
  const runUnpacked = async (request: QueryRequest, body: Readable): Promise<QueryAnswer> => {
    const packed = await spool.write(body)
    const unpacked = spool.newPath()
    try {
      await engine.run(
        'CREATE TEMPORARY TABLE unpacked (raw_blob String) ENGINE = Memory; ' +
          `INSERT INTO unpacked FROM INFILE ${literal(packed)} COMPRESSION ${literal(request.bodyEncoding)} FORMAT RawBLOB; ` +
          `SELECT raw_blob FROM unpacked INTO OUTFILE ${literal(unpacked)} COMPRESSION 'none' FORMAT RawBLOB`,
        'RawBLOB',
        { settings: new Map() },
      )
      return await runDecoded(request, spool.read(unpacked))
    } finally {
      await spool.remove(packed)
      await spool.remove(unpacked)
    }
  }

  return async (request: QueryRequest, body: Readable): Promise<QueryAnswer> => {
    if (request.bodyEncoding !== 'identity') {
      const named = Buffer.from(`${request.query}\n`, 'utf8').toString('latin1')
      const start = request.query === '' ? undefined : splitStatement(named)
      // The whole body is data: it stays packed, and the engine unpacks it while it inserts.
      if (start?.kind === 'insert' && named.slice(start.dataStart).trim() === '') {
        if (!request.user.mayWrite) throw readsOnly()
        return insertFromFile(start, await spool.write(body), request.bodyEncoding.replace('x-', ''), request)
      }
    }
    const readable = decoded(body, request.bodyEncoding)
    if (readable === undefined) return runUnpacked(request, body)
    try {
      return await runDecoded(request, readable)
    } catch (error) {
      if (isCorrupt(error)) throw refusal(354, 'ZLIB_INFLATE_FAILED', `Cannot unpack the body: ${error.message}`)
      throw error
    }
  }
}

// A question must not take the engine away from the sink. Where one asks for more, the constraints in access.xml refuse it.
const LIMITS: [string, string][] = [
  ['max_execution_time', '120'],
  ['max_memory_usage', '4000000000'],
]

const isCorrupt = (error: unknown): error is Error =>
  !(error instanceof ClickHouseError) &&
  error instanceof Error &&
  /^(Z_|ERR_BROTLI|ERR__ERROR)/.test(String((error as NodeJS.ErrnoException).code))
