import { pino } from 'pino'
import type { Log } from '#platform/health/log.js'

/** On standard error: standard output carries nothing but a command's result. */
export const createStderrLog = (level: string): Log =>
  pino({ level, base: { service: 'operator' } }, pino.destination(2))
