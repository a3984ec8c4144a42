import { setTimeout as sleep } from 'node:timers/promises'
import { Undecodable } from '#platform/registry.js'

const patience = 60_000

/** Tries again for a minute while ClickHouse or the registry is not reached; what they answer, good or bad, is an answer. */
export const patiently = async <T>(work: () => Promise<T>): Promise<T> => {
  for (const begun = Date.now(); ; ) {
    try {
      return await work()
    } catch (error) {
      if (isAnswer(error) || Date.now() - begun > patience) throw error
      await sleep(500)
    }
  }
}

/** ClickHouse gives its own errors a type. */
export const isAnswer = (error: unknown): boolean =>
  error instanceof Undecodable || (typeof error === 'object' && error !== null && 'type' in error)
