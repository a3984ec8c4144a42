import { setTimeout as sleep } from 'node:timers/promises'

const patience = 60_000

/** Tries again for a minute while ClickHouse is not reached; what it answers, good or bad, is an answer. */
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
export const isAnswer = (error: unknown): boolean => typeof error === 'object' && error !== null && 'type' in error
