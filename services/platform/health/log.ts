import { type Logger, pino } from 'pino'

export type Log = Logger

/** JSON lines on standard output: a constant message and fields; never a payload, never a key. */
export const createLog = (service: string, level: string): Log =>
  pino(
    {
      level,
      base: { service, pid: process.pid },
      redact: ['req.headers.authorization', 'authorization', 'key'],
      // In words and as a time of day: people read these lines too.
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    patientOutput(),
  )

/** Standard output may lead to a full disk: then up to 1 MiB of lines waits for room, more is lost, the service runs on. */
export const patientOutput = () => {
  const output = pino.destination({ fd: 1, sync: true, maxLength: 1024 * 1024 })
  // Without a listener, a line that cannot be written ends the process.
  output.on('error', () => {})
  // Once that much waits, pino does not try to write again by itself.
  output.on('drop', () => output.flush())
  return output
}
