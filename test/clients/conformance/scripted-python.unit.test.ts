import { spawnSync } from 'node:child_process'
import { afterAll, describe, expect, it } from 'vitest'
import { conformanceCases, createNames, type Exchange, type Names, requestDifferences, textOfAnswer } from './cases.js'
import { type Answerer, fromSources, startPythonDriver } from './drive-python.js'

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0

describe.each([
  ['with threads', []],
  ['with asyncio', ['--aio']],
])('the SDK for Python, %s', (_, words) => {
  const python = hasPython ? startPythonDriver(['--scripted', ...words], fromSources) : undefined
  afterAll(() => void python?.stop())

  it.for(conformanceCases)('$name', async ({ calls }, { skip }) => {
    if (!python) return skip('there is no Python 3.9 or later here')
    const names = createNames()
    for (const call of calls) {
      const script = createScript(call.exchanges, names)
      const differences = await python.drive(call, names, { url: 'http://weir.test', key: 'a-key' }, script.answer)
      expect([...script.differences, ...differences]).toEqual([])
      expect(script.left(), 'exchanges that did not take place').toBe(0)
    }
  })
})

/** A service that follows the script, and notes where the client does not; in the client's own time. */
const createScript = (exchanges: readonly Exchange[], names: Names) => {
  const differences: string[] = []
  let made = 0
  let answeredAt = 0

  const answer: Answerer = (url, init, at) => {
    const exchange = exchanges[made]
    made += 1
    if (!exchange) {
      differences.push(`request ${made} was not asked for`)
      return { status: 418, headers: {}, text: '{}' }
    }
    const { request, waited } = exchange
    const found = requestDifferences(names, request, url, init)
    const wait = at - answeredAt
    if (waited && (wait < waited.from || wait > waited.to)) found.push(`it came after ${wait} ms`)
    differences.push(...found.map((difference) => `request ${made}: ${difference}`))
    answeredAt = at
    if (exchange.answer === 'none') return 'none'
    names.inventIn(exchange.answer.lines ?? exchange.answer.body)
    const inSeconds = (_: string, seconds: string) => new Date(at + Number(seconds) * 1000).toUTCString()
    const headers = Object.fromEntries(
      Object.entries(exchange.answer.headers ?? {}).map(([name, text]) => [
        name,
        text.replace(/\{in:(\d+)\}/, inSeconds),
      ]),
    )
    return { status: exchange.answer.status, headers, text: textOfAnswer(names, exchange.answer) }
  }
  return { answer, differences, left: () => exchanges.length - made }
}
