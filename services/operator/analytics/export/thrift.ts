// Thrift's compact protocol, in which the footer of a Parquet file is written: read into values and written again, without a loss.
// Fields that this program knows nothing of stay as they are; so a newer ClickHouse may write more than this one does.

/** A field's or an element's value; which one it is, its type says. */
export type ThriftValue = bigint | boolean | Buffer | ThriftList | ThriftStruct
export type ThriftList = { of: number; items: ThriftValue[] }
/** Fields by their numbers, in the order of these. */
export type ThriftStruct = Map<number, { type: number; value: ThriftValue }>

export const thriftTypes = { true: 1, false: 2, i64: 6, binary: 8, list: 9, struct: 12 } as const

const { true: yes, false: no, binary, list, struct } = thriftTypes
const [byte, smallest, largest, double] = [3, 4, 6, 7]

/** The struct at the beginning of these bytes. Throws where they are none. */
export const readStruct = (bytes: Buffer): ThriftStruct => {
  let at = 0

  const next = (): number => {
    const value = bytes[at++]
    if (value === undefined) throw new Error('the bytes end before the struct does')
    return value
  }
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('the bytes end before the struct does')
    at += length
    return bytes.subarray(at - length, at)
  }
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const part = next()
      value |= BigInt(part & 0x7f) << shift
      if (part < 0x80) return value
    }
  }
  const signed = (): bigint => {
    const value = varint()
    return (value >> 1n) ^ -(value & 1n)
  }

  const readValue = (type: number): ThriftValue => {
    if (type === byte) return BigInt(next())
    if (type >= smallest && type <= largest) return signed()
    if (type === double) return take(8)
    if (type === binary) return take(Number(varint()))
    if (type === list) return listOf()
    if (type === struct) return structOf()
    throw new Error(`a value of type ${type} is not known`)
  }
  const listOf = (): ThriftList => {
    const head = next()
    const of = head & 0x0f
    const length = head >> 4 === 15 ? Number(varint()) : head >> 4
    // In a list, whether something is true takes a byte of its own.
    const item = of === yes || of === no ? () => next() === yes : () => readValue(of)
    return { of, items: Array.from({ length }, item) }
  }
  const structOf = (): ThriftStruct => {
    const fields: ThriftStruct = new Map()
    for (let number = 0, head = next(); head !== 0; head = next()) {
      const type = head & 0x0f
      number = head >> 4 === 0 ? Number(signed()) : number + (head >> 4)
      fields.set(number, { type, value: type === yes || type === no ? type === yes : readValue(type) })
    }
    return fields
  }
  return structOf()
}

/** A struct as bytes. */
export const writeStruct = (fields: ThriftStruct): Buffer => {
  const parts: Buffer[] = []
  let last = 0
  for (const [number, { type, value }] of [...fields].sort(([one], [other]) => one - other)) {
    const written = type === yes || type === no ? (value ? yes : no) : type
    const step = number - last
    parts.push(
      step < 16 ? Buffer.from([(step << 4) | written]) : Buffer.concat([Buffer.from([written]), signedOf(number)]),
    )
    if (written === type && type !== yes && type !== no) parts.push(writeValue(type, value))
    last = number
  }
  return Buffer.concat([...parts, Buffer.from([0])])
}

/** The beginning of a list, behind which its items follow. */
export const listHead = (of: number, length: number): Buffer =>
  length < 15 ? Buffer.from([(length << 4) | of]) : Buffer.concat([Buffer.from([0xf0 | of]), varintOf(BigInt(length))])

export const writeValue = (type: number, value: ThriftValue): Buffer => {
  if (typeof value === 'bigint') return type === byte ? Buffer.from([Number(value)]) : signedOf(value)
  if (typeof value === 'boolean') return Buffer.from([value ? yes : no])
  if (Buffer.isBuffer(value)) return type === double ? value : Buffer.concat([varintOf(BigInt(value.length)), value])
  if (value instanceof Map) return writeStruct(value)
  return Buffer.concat([
    listHead(value.of, value.items.length),
    ...value.items.map((item) => writeValue(value.of, item)),
  ])
}

const varintOf = (value: bigint): Buffer => {
  const parts: number[] = []
  let rest = value
  for (; rest >= 0x80n; rest >>= 7n) parts.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...parts, Number(rest)])
}

const signedOf = (value: bigint | number): Buffer => {
  const given = BigInt(value)
  return varintOf(given < 0n ? -given * 2n - 1n : given * 2n)
}
