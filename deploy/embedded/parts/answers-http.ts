const WITHIN_MS = 2_000

/** Whether a GET of this address is answered with 200. */
export const answersHttp = async (url: string): Promise<boolean> => {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(WITHIN_MS) })
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    // Refused, cut or late: all of them mean not yet.
    return false
  }
}
