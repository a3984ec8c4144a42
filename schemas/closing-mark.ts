import { randomBytes } from 'node:crypto'

// "weir lanes change" ends the submitted topics of a generation: Kafka is told to take no message there any more that is as large as the
// smallest batch, and each partition gets a mark, which is smaller. Once Kafka has it, everything before it is there for good.

const closingMark = Buffer.from('weir: closed')

/** The mark as a message. */
export const closingMessage = { key: '', value: closingMark }

/** A message as large as the smallest batch, and random, so that it cannot be packed: a topic that is closed does not take it. */
export const closingProbe = () => ({ key: '', value: Buffer.concat([closingMark, randomBytes(188)]) })

/** More than the mark takes with what Kafka writes around it (83 bytes); less than any batch, which names two ids and a hash (190). */
export const closedMessageBytes = '120'

/** Whether a message is the mark, or a probe that came before the topic was closed. A batch begins with the byte 0. */
export const isClosingMark = (value: Buffer | null): boolean =>
  value?.subarray(0, closingMark.length).equals(closingMark) ?? false
