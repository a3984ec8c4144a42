import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from '#platform/health/health.js'
import { OperatorError } from './operator-error.js'

export type Part = { name: string; address: string; variable: string; check: () => Promise<unknown> }

const between = 250

/** Resolves once all answer; otherwise one line tells of each that does not. */
export const waitForParts = async (parts: readonly Part[], within: number): Promise<void> => {
  const problems = await Promise.all(parts.map((part) => problemOf(part, within)))
  const told = problems.filter((problem) => problem !== undefined)
  if (told.length > 0) throw new OperatorError(told.join('\n'))
}

// A part that is only just starting refuses connections for a while.
const problemOf = async (part: Part, within: number): Promise<string | undefined> => {
  const deadline = Date.now() + within
  let reason = 'no answer'
  for (;;) {
    const left = Math.max(deadline - Date.now(), 1)
    try {
      await inTime(part.check(), left)
      return undefined
    } catch (error) {
      // Being out of time says less than what went wrong the time before.
      if (!(error instanceof OutOfTime)) reason = reasonOf(error)
    }
    if (Date.now() + between >= deadline) break
    await sleep(between)
  }
  return (
    `${part.name} does not answer at ${part.address} after ${within / 1000} s (${reason}): ` +
    `is it running? ${part.variable} says where it is`
  )
}

class OutOfTime extends Error {}

const inTime = async (work: Promise<unknown>, ms: number): Promise<void> => {
  const watch = new AbortController()
  try {
    await Promise.race([
      work,
      sleep(ms, undefined, { signal: watch.signal }).then(() => {
        throw new OutOfTime()
      }),
    ])
  } finally {
    watch.abort()
  }
}
