import { writeSync } from 'node:fs'
import type { Socket } from 'node:net'
import { type ConfigSchema, integer, string, type ValuesOf } from './config.js'

/** The rows of the crash table in docs/correctness.md: where a test can have a process killed. */
const failPoints = [
  'after-submit-sent',
  'after-submit-acked',
  'before-postgres-commit',
  'after-postgres-commit',
  'after-partial-publish',
  'after-publish',
  'after-waiting-marked',
  'before-resume-sent',
  'after-resume-sent',
  'before-waiting-published',
  'after-waiting-published',
  'after-clickhouse-insert',
] as const

export type FailAt = (point: (typeof failPoints)[number]) => void

export const failPointVariables = {
  WEIR_FAILPOINT: string(
    { enum: failPoints },
    'for tests: where the process kills itself. A row of the crash table in [correctness.md](correctness.md)',
  ),
  WEIR_FAILPOINT_PASS: integer(
    { minimum: 1, default: 1 },
    'for tests: which time, when it comes by there more than once',
  ),
  WEIR_FAILPOINT_SIGNAL: string(
    { enum: ['SIGKILL', 'SIGSTOP'], default: 'SIGKILL' },
    'for tests: whether it is killed there, or falls asleep until somebody wakes it',
  ),
} as const satisfies ConfigSchema['properties']

/** Ends the process on the spot, as a power cut would. In production no point is named, and this does nothing. */
export const createFailAt = (config: ValuesOf<typeof failPointVariables>): FailAt => {
  const { WEIR_FAILPOINT: wanted, WEIR_FAILPOINT_PASS: pass, WEIR_FAILPOINT_SIGNAL: signal } = config
  if (!wanted) return () => {}
  let passed = 0
  return (point) => {
    if (point !== wanted || ++passed !== pass) return
    // Written directly: the log would write the line only after the process is gone.
    writeSync(process.stderr.fd, `${JSON.stringify({ msg: 'fail point', point, pass })}\n`)
    process.kill(process.pid, signal)
  }
}

const produceRequest = 0

/** Has a socket call `onSent` when a produce request has left it: the moment between a send and its acknowledgement. */
export const watchProduce = (socket: Socket, onSent: () => void): void => {
  const write = socket.write.bind(socket)
  socket.write = (bytes: Buffer, ...rest: unknown[]) => {
    const isProduce = Buffer.from(bytes).readInt16BE(4) === produceRequest
    const encoding = rest[0] as BufferEncoding
    return isProduce ? write(bytes, encoding, onSent) : write(bytes, encoding)
  }
}
