import { readFileSync } from 'node:fs'

/** The processor time of this thread so far, in milliseconds: however busy the machine is, the same work takes as much. */
export const threadTime = (): number => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6
