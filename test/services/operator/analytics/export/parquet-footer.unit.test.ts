import fc from 'fast-check'
import { expect, it } from 'vitest'
import { footerOf, readPieceFooter } from '../../../../../services/operator/analytics/export/parquet-footer.js'
import {
  readStruct,
  type ThriftStruct,
  type ThriftValue,
  thriftTypes,
  writeStruct,
} from '../../../../../services/operator/analytics/export/thrift.js'

const whole = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
const { struct } = fc.letrec<{ struct: ThriftStruct; field: { type: number; value: ThriftValue } }>((tie) => ({
  field: fc.oneof(
    { depthSize: 'small' },
    whole.map((value) => ({ type: thriftTypes.i64, value })),
    fc.boolean().map((value) => ({ type: value ? thriftTypes.true : thriftTypes.false, value })),
    fc.uint8Array().map((bytes) => ({ type: thriftTypes.binary, value: Buffer.from(bytes) })),
    fc
      .array(whole, { maxLength: 40 })
      .map((items) => ({ type: thriftTypes.list, value: { of: thriftTypes.i64, items } })),
    fc.array(tie('struct')).map((items) => ({ type: thriftTypes.list, value: { of: thriftTypes.struct, items } })),
    tie('struct').map((value) => ({ type: thriftTypes.struct, value })),
  ),
  struct: fc
    .uniqueArray(fc.tuple(fc.integer({ min: 1, max: 300 }), tie('field')), {
      selector: ([number]) => number,
      maxLength: 8,
    })
    .map((fields) => new Map(fields.sort(([one], [other]) => one - other))),
}))

it('reads what it writes, whatever the fields', () => {
  fc.assert(
    fc.property(struct, (given) => {
      expect(readStruct(writeStruct(given))).toEqual(given)
    }),
  )
})

it('throws at bytes that end early, and never goes on for ever', () => {
  fc.assert(
    fc.property(struct, fc.double({ min: 0, max: 0.999, noNaN: true }), (given, share) => {
      const bytes = writeStruct(given)
      expect(() => readStruct(bytes.subarray(0, Math.floor(bytes.length * share)))).toThrow('the bytes end before')
    }),
  )
})

/** A piece as ClickHouse writes it, as far as the footer of the whole file depends on it. */
const pieceOf = (data: string, rows: bigint): Buffer => {
  const number = (value: bigint) => ({ type: thriftTypes.i64, value })
  const column: ThriftStruct = new Map<number, { type: number; value: ThriftValue }>([
    [2, number(4n)],
    [
      3,
      {
        type: thriftTypes.struct,
        value: new Map([
          [9, number(4n)],
          [11, number(0n)],
          [14, number(7n)],
        ]),
      },
    ],
    [4, number(99n)],
  ])
  const group: ThriftStruct = new Map<number, { type: number; value: ThriftValue }>([
    [1, { type: thriftTypes.list, value: { of: thriftTypes.struct, items: [column] } }],
    [3, number(rows)],
    [7, { type: 4, value: 0n }],
  ])
  const footer = writeStruct(
    new Map<number, { type: number; value: ThriftValue }>([
      [1, { type: 5, value: 2n }],
      [2, { type: thriftTypes.list, value: { of: thriftTypes.struct, items: [new Map()] } }],
      [3, number(rows)],
      [4, { type: thriftTypes.list, value: { of: thriftTypes.struct, items: rows > 0n ? [group] : [] } }],
      [6, { type: thriftTypes.binary, value: Buffer.from('ClickHouse') }],
    ]),
  )
  const length = Buffer.alloc(4)
  length.writeUInt32LE(footer.length)
  return Buffer.concat([Buffer.from(`PAR1${data}`), footer, length, Buffer.from('PAR1')])
}

it('lists the groups of all pieces at the places where they are now', async () => {
  const pieces = [pieceOf('one', 3n), pieceOf('', 0n), pieceOf('three', 5n)]
  const starts = pieces.map((_, i) => pieces.slice(0, i).reduce((sum, { length }) => sum + length, 0))
  const all = Buffer.concat(pieces)
  const readAt = async (at: number, length: number) => all.subarray(at, at + length)
  const read = await Promise.all(
    starts.map((from, i) => readPieceFooter(readAt, from, from + (pieces[i]?.length ?? 0))),
  )
  const bytes = footerOf(read, { weir: 'yes' })
  expect([bytes.toString('latin1', bytes.length - 4), bytes.readUInt32LE(bytes.length - 8)]).toEqual([
    'PAR1',
    bytes.length - 8,
  ])
  const footer = readStruct(bytes.subarray(0, -8))
  expect(footer.get(3)?.value).toBe(8n)
  expect(footer.get(6)?.value).toEqual(Buffer.from('ClickHouse'))
  const structsIn = (fields: ThriftStruct, number: number) =>
    (fields.get(number) as { value: { items: ThriftStruct[] } }).value.items
  const groups = structsIn(footer, 4)
  const [first, second] = groups.map((group) => structsIn(group, 1)[0])
  const offsets = (column: ThriftStruct | undefined) => {
    const metadata = column?.get(3)?.value as ThriftStruct
    return [column?.get(2), ...[9, 11, 14].map((number) => metadata.get(number)), column?.get(4)].map(
      (each) => each?.value,
    )
  }
  const by = BigInt(starts[2] ?? 0)
  expect(groups.map((group) => group.has(7))).toEqual([false, false])
  expect(offsets(first)).toEqual([4n, 4n, 0n, 7n, undefined])
  expect(offsets(second)).toEqual([4n + by, 4n + by, 0n, 7n + by, undefined])
})

it('refuses a piece that is cut off', async () => {
  const piece = pieceOf('data', 3n)
  const readAt = async (at: number, length: number) => piece.subarray(at, at + length)
  await expect(readPieceFooter(readAt, 0, piece.length - 1)).rejects.toThrow('does not end as a Parquet file does')
  await expect(readPieceFooter(readAt, 0, 5)).rejects.toThrow('too short')
})
