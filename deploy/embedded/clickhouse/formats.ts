/** The Content-Type a ClickHouse server gives to an answer in this format. */
export const contentTypeOf = (format: string): string => {
  if (
    /^(JSON|JSONStrings|JSONColumns|JSONColumnsWithMetadata|JSONCompact|JSONCompactStrings|JSONCompactColumns|JSONObjectEachRow)$/i.test(
      format,
    )
  )
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
