import { type Logger, pino } from 'pino'

export type Log = Logger

/** JSON lines on standard output: a constant message and fields; never a payload, never a key. */
export const createLog = (service: string, level: string): Log =>
  pino(
    { level, base: { service, pid: process.pid }, redact: ['req.headers.authorization', 'authorization', 'key'] },
    patientOutput(),
  )

/** Standard output that may lead to a full disk: a few lines wait for room, others are lost, and nobody stops for them. */
export const patientOutput = () => {
  const output = pino.destination({ fd: 1, sync: true, maxLength: 1024 * 1024 })
  // Without a listener, a line that cannot be written ends the process.
  output.on('error', () => {})
  // Once it is full of lines that wait it tries no more by itself.
  output.on('drop', () => output.flush())
  return output
}
