import { type Logger, pino } from 'pino'

export type Log = Logger

/** JSON lines on standard output: a constant message and fields; never a payload, never a key. */
export const createLog = (service: string, level: string): Log =>
  pino({ level, base: { service, pid: process.pid }, redact: ['req.headers.authorization', 'authorization', 'key'] })
