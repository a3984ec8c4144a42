import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompress, constants, deflate, gzip } from 'node:zlib'
import { type ClickHouseError, errorBody, statusOf } from './errors.js'
import { header, type QueryRequest } from './request.js'
import type { QueryAnswer } from './runner.js'

/** Writes what the engine answered, packed when the client and its settings ask for it. */
export const sendAnswer = async (
  asked: IncomingMessage,
  response: ServerResponse,
  request: QueryRequest,
  answer: QueryAnswer,
): Promise<void> => {
  response.setHeader('Content-Type', contentTypeOf(answer.format ?? 'Null'))
  if (answer.format !== undefined) response.setHeader('X-ClickHouse-Format', answer.format)
  response.setHeader('X-ClickHouse-Summary', JSON.stringify(summaryOf(answer)))
  const wanted = isOn(request.settings.get('enable_http_compression')) ? header(asked.headers, 'accept-encoding') : ''
  const encoding = answer.bytes.length === 0 ? undefined : chooseEncoding(wanted ?? '')
  if (encoding === undefined) {
    send(asked, response, answer.bytes)
    return
  }
  const packed = await PACKERS[encoding](answer.bytes)
  response.setHeader('Content-Encoding', encoding)
  response.setHeader('Vary', 'Accept-Encoding')
  send(asked, response, packed)
}

export const sendError = (
  asked: IncomingMessage,
  response: ServerResponse,
  error: ClickHouseError,
  version: string,
) => {
  response.statusCode = statusOf(error.code)
  response.setHeader('Content-Type', 'text/plain; charset=UTF-8')
  response.setHeader('X-ClickHouse-Exception-Code', String(error.code))
  // An unread body would be taken for the next request on this connection.
  if (!asked.complete) response.setHeader('Connection', 'close')
  send(asked, response, Buffer.from(errorBody(error, version)))
}

/** The encoding that ClickHouse would prefer among those that the client accepts and Node can pack: neither zstd nor lz4. */
export const chooseEncoding = (accepted: string): Encoding | undefined => {
  const names = new Set(
    accepted
      .split(',')
      .map((choice) => choice.trim().toLowerCase())
      .filter((choice) => !/;\s*q=0(\.0*)?$/.test(choice))
      .map((choice) => choice.split(';')[0]?.trim()),
  )
  return (['gzip', 'deflate', 'br'] as const).find((name) => names.has(name))
}

/** The Content-Type a ClickHouse server gives to an answer in this format. */
export const contentTypeOf = (format: string): string => {
  if (/^JSON(Compact)?(Strings|Columns)?$|^JSON(ColumnsWithMetadata|ObjectEachRow)$/i.test(format))
    return 'application/json; charset=UTF-8'
  if (/^JSON\w*EachRow\w*$|^NDJSON$/i.test(format)) return 'application/x-ndjson; charset=UTF-8'
  if (/^(TabSeparated|TSV)/i.test(format)) return 'text/tab-separated-values; charset=UTF-8'
  if (/^CSV/i.test(format)) return `text/csv; charset=UTF-8; header=${/WithNames/i.test(format) ? 'present' : 'absent'}`
  if (/^XML$/i.test(format)) return 'application/xml; charset=UTF-8'
  if (/^Prometheus$/i.test(format)) return 'text/plain; version=0.0.4; charset=UTF-8'
  return BINARY.test(format) ? 'application/octet-stream' : 'text/plain; charset=UTF-8'
}

const BINARY =
  /^(Native|RowBinary\w*|Parquet|Arrow|ArrowStream|ORC|Avro|AvroConfluent|MsgPack|BSONEachRow|Protobuf\w*|CapnProto|Npy|RawBLOB|Buffers)$/i

type Encoding = 'gzip' | 'deflate' | 'br'

const PACKERS: Record<Encoding, (bytes: Uint8Array) => Promise<Buffer>> = {
  // Level 3 is the default of ClickHouse's http_zlib_compression_level.
  gzip: (bytes) => promisify(gzip)(bytes, { level: 3 }),
  deflate: (bytes) => promisify(deflate)(bytes, { level: 3 }),
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 3 } }),
}

const send = (asked: IncomingMessage, response: ServerResponse, bytes: Uint8Array) => {
  response.setHeader('Content-Length', bytes.length)
  response.end(asked.method === 'HEAD' ? undefined : bytes)
}

/** What was read is left out where it is not known. An INSERT reads what it writes. */
const summaryOf = ({
  rows,
  size,
  seconds,
  isInsert,
  read = isInsert ? { rows, bytes: size } : undefined,
}: QueryAnswer) => ({
  ...(read && { read_rows: String(read.rows), read_bytes: String(read.bytes) }),
  written_rows: String(isInsert ? rows : 0),
  written_bytes: String(isInsert ? size : 0),
  total_rows_to_read: '0',
  result_rows: String(rows),
  result_bytes: String(size),
  elapsed_ns: String(Math.round(seconds * 1e9)),
})

const isOn = (value: string | undefined) => value === '1' || value === 'true'
