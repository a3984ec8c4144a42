import type { Readiness } from '#platform/health/health.js'

/** What a service says of itself and its parts. */
export const readyzOf = async (url: string, query = ''): Promise<Readiness & { httpStatus: number }> => {
  const answer = await fetch(`${url}/readyz${query}`, { signal: AbortSignal.timeout(60_000) })
  return { ...((await answer.json()) as Readiness), httpStatus: answer.status }
}
