import { readFileSync } from 'node:fs'
import { logFileOf } from '../../../deploy/embedded/supervision/log-file.js'
import type { ServiceName } from '../stack/definitions.js'
import type { FaultStack } from '../stack/start-stack.js'
import type { FailPointName } from './fail-points.js'

/** How often a process said, so far, that it came to a fail point. */
export const timesReached = (stack: FaultStack, name: ServiceName, point: FailPointName): number =>
  readFileSync(logFileOf(stack.dataDir, name), 'utf8').split(`{"msg":"fail point","point":"${point}"`).length - 1
