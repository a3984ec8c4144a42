import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects, type SchemaElement } from 'hyparquet'
import { compressors } from 'hyparquet-compressors'

type Row = Record<string, unknown>

/** All rows of a Parquet file, with the values that ClickHouse writes in JSON: whole numbers of 64 bits and exact ones as text. */
export const readParquet = async (path: string): Promise<Row[]> => {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  const kinds = new Map(metadata.schema.map((element) => [element.name, { ...element }]))
  // hyparquet makes floats of exact numbers; without the word that they are numbers it leaves their bytes as they are.
  for (const element of metadata.schema) {
    if (element.logical_type?.type !== 'DECIMAL') continue
    delete element.logical_type
    delete element.converted_type
  }
  const rows = await parquetReadObjects({ file, metadata, compressors, utf8: false })
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value, kinds.get(name))])),
  )
}

const plain = (value: unknown, element: SchemaElement | undefined): unknown => {
  if (Array.isArray(value)) return value.map((item) => plain(item, undefined))
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Date)
    return element?.logical_type?.type === 'DATE' ? value.toISOString().slice(0, 10) : value.toISOString()
  if (value instanceof Uint8Array && element?.logical_type?.type === 'DECIMAL')
    return decimalOf(value, element.scale ?? 0)
  return value
}

const decimalOf = (bytes: Uint8Array, scale: number): string => {
  const whole = BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`))
  const digits = String(whole < 0n ? -whole : whole).padStart(scale + 1, '0')
  const text = `${digits.slice(0, -scale)}.${digits.slice(-scale)}`.replace(/\.?0+$/, '')
  return whole < 0n ? `-${text}` : text
}
