import { createHash } from 'node:crypto'

/** Wraps Avro bodies as they stand on the topic (after `headerLength` bytes) into a container: one copy for each row. */
export const toAvroContainer = (schema: string, messages: readonly Buffer[], headerLength = 0): Buffer => {
  const mark = createHash('md5').update(schema).digest()
  const size = messages.reduce((sum, { length }) => sum + length - headerLength, 0)
  const head = Buffer.concat([
    magic,
    // One block of metadata with two entries, and the empty block that ends it.
    long(2),
    ...text('avro.schema'),
    ...text(schema),
    ...text('avro.codec'),
    ...text('null'),
    long(0),
    mark,
    long(messages.length),
    long(size),
  ])
  const container = Buffer.allocUnsafeSlow(head.length + size + mark.length)
  let at = head.copy(container)
  for (const message of messages) at += message.copy(container, at, headerLength)
  mark.copy(container, at)
  return container
}

const magic = Buffer.from('Obj\x01')

const text = (value: string): [Buffer, Buffer] => {
  const bytes = Buffer.from(value)
  return [long(bytes.length), bytes]
}

/** Avro's zig-zag variable-length integer, for numbers that are not negative. */
const long = (value: number): Buffer => {
  const bytes: number[] = []
  let rest = value * 2
  while (rest >= 128) {
    bytes.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
  return Buffer.from(bytes)
}
