/** Where Avro is written. When a piece of memory is full the next one is begun, and what stands in the first stays there. */
export type AvroBytes = {
  /** The piece that is being written, and where its next byte goes. */
  bytes: Buffer
  at: number
  /** Where what is being written began. */
  start: number
}

/** How large a piece is, unless something larger has to stand in it. */
const pieceSize = 128 * 1024

export const createAvroBytes = (room = 0): AvroBytes => ({ bytes: Buffer.allocUnsafeSlow(room), at: 0, start: 0 })

/** For the records of a body: a small one needs one small piece, a large one begins with as much as the next pieces have. */
export const createAvroBytesFor = (body: Buffer): AvroBytes => createAvroBytes(Math.min(body.length + 256, pieceSize))

/** Begins something of up to `room` bytes that has to stand in one piece. */
export const begin = (out: AvroBytes, room: number): void => {
  if (out.at + room > out.bytes.length) {
    out.bytes = Buffer.allocUnsafeSlow(Math.max(pieceSize, room))
    out.at = 0
  }
  out.start = out.at
}

/** The most bytes that a whole number takes that JavaScript holds exactly. */
export const longestLong = 8

/** An int or a long: zigzag, then seven bits in each byte. */
export const writeLong = (out: AvroBytes, value: number): void => {
  const { bytes } = out
  let { at } = out
  let rest = value >= 0 ? value * 2 : -value * 2 - 1
  // The bit operations below see 32 bits only.
  while (rest > 0x7fffffff) {
    bytes[at++] = (rest & 0x7f) | 0x80
    rest = Math.floor(rest / 128)
  }
  while (rest > 0x7f) {
    bytes[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  bytes[at++] = rest
  out.at = at
}

export const writeDouble = (out: AvroBytes, value: number): void => {
  double[0] = value
  for (let i = 0; i < 8; i++) out.bytes[out.at + i] = eightBytes[i] as number
  out.at += 8
}

// The processors that Node runs on are all little-endian, as Avro is.
const double = new Float64Array(1)
const eightBytes = new Uint8Array(double.buffer)

// Up to this length, a loop is faster than the call into Node that copies.
const short = 200

/** Bytes as they are, without their length before them. */
export const writeBytes = (out: AvroBytes, from: Uint8Array, start: number, end: number): void => {
  const { bytes, at } = out
  if (end - start > short) bytes.set(from.subarray(start, end), at)
  else for (let i = start, to = at; i < end; i++, to++) bytes[to] = from[i] as number
  out.at = at + end - start
}
