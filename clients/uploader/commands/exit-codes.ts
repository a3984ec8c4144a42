import { WeirError } from '../../typescript/src/index.js'
import { UsageError } from '../read/row.js'

/** What the exit code tells scripts. */
export const exitCodes = {
  accepted: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  threshold: 4,
  key: 5,
  network: 6,
  interrupted: 130,
} as const

/** What went wrong, in one line. */
export const lineOf = (failure: unknown): string => {
  if (failure instanceof WeirError)
    return failure.kind === 'conflict'
      ? 'the server knows a part of this file with other contents: send all of it with --restart'
      : `${failure.message}: ${failure.remedy}`
  if (failure instanceof Error && 'code' in failure && failure.code === 'ENOSPC')
    return 'the disk is full, and the journal or the refused records cannot be written: free some room'
  return failure instanceof Error ? failure.message : String(failure)
}

export const codeOf = (failure: unknown): number => {
  if (failure instanceof UsageError) return exitCodes.usage
  return failure instanceof WeirError ? exitCodes[kindOf[failure.kind]] : exitCodes.failed
}

const kindOf = { key: 'key', network: 'network', server: 'network', usage: 'usage', conflict: 'usage' } as const
