import { startService } from './another-service.js'

/** A further edge of the running system, told other things than the first. */
export const startEdge = (env: Record<string, string>) => startService('edge', env)
