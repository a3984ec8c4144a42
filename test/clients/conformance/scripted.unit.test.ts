import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { inFakeTime } from '../typescript/fake-weir.js'
import { conformanceCases, createNames, type Exchange, type Names, requestDifferences, textOfAnswer } from './cases.js'
import { driveSdk } from './drive-sdk.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it.each(conformanceCases)('$name', async ({ calls }) => {
  const names = createNames()
  for (const call of calls) {
    const script = createScript(call.exchanges, names)
    const config = { url: 'http://weir.test', key: 'a-key', fetch: script.fetch }
    const differences = await inFakeTime(driveSdk(call, names, config))
    expect([...script.differences, ...differences]).toEqual([])
    expect(script.left(), 'exchanges that did not take place').toBe(0)
  }
})

/** A service that follows the script, and notes where the client does not. */
const createScript = (exchanges: readonly Exchange[], names: Names) => {
  const differences: string[] = []
  let made = 0
  let answeredAt = 0

  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const exchange = exchanges[made]
    made += 1
    if (!exchange) {
      differences.push(`request ${made} was not asked for`)
      return new Response('{}', { status: 418 })
    }
    const { request, waited, answer } = exchange
    const found = requestDifferences(names, request, String(input), init)
    const wait = Date.now() - answeredAt
    if (waited && (wait < waited.from || wait > waited.to)) found.push(`it came after ${wait} ms`)
    differences.push(...found.map((difference) => `request ${made}: ${difference}`))
    answeredAt = Date.now()
    if (answer === 'none') throw new TypeError('fetch failed')
    names.inventIn(answer.lines ?? answer.body)
    const inSeconds = (_: string, seconds: string) => new Date(Date.now() + Number(seconds) * 1000).toUTCString()
    const headers = Object.entries(answer.headers ?? {}).map(([name, text]): [string, string] => [
      name,
      text.replace(/\{in:(\d+)\}/, inSeconds),
    ])
    return new Response(textOfAnswer(names, answer), { status: answer.status, headers })
  }
  return { fetch, differences, left: () => exchanges.length - made }
}
