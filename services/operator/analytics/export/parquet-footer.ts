import {
  listHead,
  readStruct,
  type ThriftList,
  type ThriftStruct,
  type ThriftValue,
  thriftTypes,
  writeStruct,
  writeValue,
} from './thrift.js'

// One Parquet file made of several. A Parquet file is groups of rows, and behind them a footer that says where in the file each one is.
// So the files stand one behind another as they are, and a footer behind all of them says where the groups of all of them are. The
// footers in between are read by nobody: some thousand bytes in each piece.

export const magic = 'PAR1'
const tail = 8

/** Reads some bytes of a file. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>

export type PieceFooter = {
  rows: bigint
  /** The columns, as they are written; the same in every piece. */
  schema: Buffer
  groups: number
  /** The groups of rows as the footer of the whole file lists them. */
  writtenGroups: Buffer
  /** The rest of the footer: who wrote the file, how values are ordered. */
  others: ThriftStruct
}

/** What the footer of a piece says that stands between two places of a file. Throws where the piece is not whole. */
export const readPieceFooter = async (readAt: ReadAt, from: number, to: number): Promise<PieceFooter> => {
  if (to - from < magic.length + tail) throw new Error('the piece is too short to be a Parquet file')
  const end = await readAt(to - tail, tail)
  const length = end.readUInt32LE(0)
  if (end.toString('latin1', 4) !== magic || length > to - from - tail - magic.length)
    throw new Error('the piece does not end as a Parquet file does')
  const fields = readStruct(await readAt(to - tail - length, length))
  const groups = itemsOf(fields, footer.rowGroups)
  return {
    rows: numberOf(fields, footer.rows),
    schema: writeValue(thriftTypes.list, fieldOf(fields, footer.schema)),
    groups: groups.length,
    writtenGroups: Buffer.concat(groups.map((group) => writeStruct(moved(group as ThriftStruct, BigInt(from))))),
    others: new Map([...fields].filter(([number]) => number > footer.rowGroups)),
  }
}

/** What stands behind the pieces of a file, so that they are one: the footer, its length, and the mark of a Parquet file. */
export const footerOf = (pieces: readonly PieceFooter[], about: Readonly<Record<string, string>>): Buffer => {
  const [first] = pieces
  if (!first) throw new Error('a Parquet file has at least one piece: the first one says which columns there are')
  const rows = pieces.reduce((sum, piece) => sum + piece.rows, 0n)
  const groups = pieces.reduce((sum, piece) => sum + piece.groups, 0)
  // Version 2 is what ClickHouse writes. The struct is written by hand up to its groups: as values, those of a thousand pieces would fill
  // the memory. Each byte before a value says its type and that its number is one more than the one before.
  const bytes = Buffer.concat([
    ...[Buffer.from([0x15]), writeValue(thriftTypes.i64, 2n)],
    ...[Buffer.from([0x19]), first.schema],
    ...[Buffer.from([0x16]), writeValue(thriftTypes.i64, rows)],
    ...[Buffer.from([0x19]), listHead(thriftTypes.struct, groups), ...pieces.map((piece) => piece.writtenGroups)],
    writeBehind(footer.rowGroups, withMetadata(first.others, about)),
  ])
  const end = Buffer.alloc(tail)
  end.writeUInt32LE(bytes.length, 0)
  end.write(magic, 4, 'latin1')
  return Buffer.concat([bytes, end])
}

// The numbers of fields in Parquet's own description of its footer (parquet.thrift).
const footer = { schema: 2, rows: 3, rowGroups: 4, metadata: 5 } as const
const rowGroup = { columns: 1, fileOffset: 5, ordinal: 7 } as const
const chunk = { fileOffset: 2, metadata: 3, indexes: [4, 5, 6, 7] } as const
const columnOffsets = { dataPage: 9, indexPage: 10, dictionaryPage: 11, bloomFilter: 14 } as const

/** A group of rows that begins further behind by so many bytes. */
const moved = (group: ThriftStruct, by: bigint): ThriftStruct => {
  shift(group, rowGroup.fileOffset, by)
  // How many groups there are before it is another number now; it may be left out.
  group.delete(rowGroup.ordinal)
  for (const column of itemsOf(group, rowGroup.columns) as ThriftStruct[]) {
    shift(column, chunk.fileOffset, by)
    // An index of pages has places of the file in it, which would be wrong. It only helps readers to skip pages.
    for (const number of chunk.indexes) column.delete(number)
    const metadata = fieldOf(column, chunk.metadata) as ThriftStruct
    for (const number of Object.values(columnOffsets)) shift(metadata, number, by)
  }
  return group
}

const shift = (fields: ThriftStruct, number: number, by: bigint): void => {
  const field = fields.get(number)
  // ClickHouse writes 0 for "not said".
  if (field && field.value !== 0n) field.value = (field.value as bigint) + by
}

/** Facts about the file, which readers show beside its columns. */
const withMetadata = (others: ThriftStruct, about: Readonly<Record<string, string>>): ThriftStruct => {
  const text = (value: string) => ({ type: thriftTypes.binary, value: Buffer.from(value) })
  const given = others.has(footer.metadata) ? itemsOf(others, footer.metadata) : []
  const added = Object.entries(about).map(
    ([key, value]): ThriftStruct =>
      new Map([
        [1, text(key)],
        [2, text(value)],
      ]),
  )
  const items: ThriftList = { of: thriftTypes.struct, items: [...given, ...added] }
  return new Map(others).set(footer.metadata, { type: thriftTypes.list, value: items })
}

/** The fields of a struct behind one that was written already: their numbers are counted from it. */
const writeBehind = (number: number, fields: ThriftStruct): Buffer =>
  writeStruct(new Map([...fields].map(([each, field]) => [each - number, field])))

const fieldOf = (fields: ThriftStruct, number: number): ThriftValue => {
  const field = fields.get(number)
  if (!field) throw new Error(`the footer of the piece has no field ${number}`)
  return field.value
}
const numberOf = (fields: ThriftStruct, number: number): bigint => fieldOf(fields, number) as bigint
const itemsOf = (fields: ThriftStruct, number: number): ThriftValue[] => (fieldOf(fields, number) as ThriftList).items
