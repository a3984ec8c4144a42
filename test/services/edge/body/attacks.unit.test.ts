import { setImmediate as nextRound } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { createMetrics } from '#platform/health/metrics.js'
import { shop } from '#schemas/records/shop.js'
import { createFigures } from '../../../../services/edge/figures.js'
import { createRateLimits } from '../../../../services/edge/limits/rates.js'
import { sampleOf } from '../../../support/sample.js'
import { sized } from '../../../support/sized.js'
import { threadTime } from '../../../support/thread-time.js'
import { createEdge } from '../edge.js'

// Bodies that are cheap to send and look for what is dear to read. While one is read, everybody else waits.

// What other tests in this process have left behind would be collected while a body is read, and count for it.
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const largest = 16 * 1024 * 1024
const full = sized(Math.ceil(largest / 6), largest)
// So many times as long as a program takes to look at each byte of the largest body once: about a tenth of a second.
const longest = 2

const unlimited = createRateLimits({
  defaults: { requests: 0, records: 0, bytes: 0 },
  figures: createFigures(createMetrics('edge')),
  now: Date.now,
})
const { send } = createEdge({ bodyLimit: full, rateLimits: unlimited })

const shops = (count: number, name: string) => ({
  records: Array.from({ length: count }, () => sampleOf(shop, { name })),
})
const named = (inQuotes: string) => `{"records": [{"shop_id": 1, "name": "${inQuotes}"}]}`
const manyOf = (unit: string, bytes = full) => unit.repeat(Math.floor((bytes - 100) / Buffer.byteLength(unit)))

/**
 * The most that the event loop had to do in one round while this body was answered, in milliseconds of processor time: as
 * long as it would stand still if it had a processor to itself, however busy this machine is.
 */
const stillFor = async (body: Buffer, contentType = 'application/json'): Promise<{ ms: number; status: number }> => {
  let isOver = false
  const answer = send('POST', '/v1/data/shops', body, {
    'content-type': contentType,
    'content-encoding': 'gzip',
  }).finally(() => {
    isOver = true
  })
  let ms = 0
  for (let before = threadTime(); !isOver; ) {
    await nextRound()
    const now = threadTime()
    ms = Math.max(ms, now - before)
    before = now
  }
  return { ms, status: (await answer).status }
}

const bytes = Buffer.alloc(largest, 'x')
let seen = 0
/**
 * What one look at each byte of the largest body takes at this moment, by a quarter of it: machines differ, and so does one machine from minute
 * to minute.
 */
const oneLook = (): number => {
  const before = threadTime()
  for (let at = 0; at < largest / 4; at++) seen = (seen * 31 + (bytes[at] as number)) | 0
  return 4 * (threadTime() - before)
}
// Until it is compiled, it takes longer.
for (let n = 0; n < 5; n++) oneLook()

/** The same in looks, for a text that is answered with a status; a collection of all garbage may fall into one try. */
const shortestFor = async (text: string, expected: number, contentType?: string): Promise<number> => {
  const body = gzipSync(text, { level: 1 })
  let shortest = Number.POSITIVE_INFINITY
  for (let tries = 0; tries < 3 && shortest >= longest; tries++) {
    collectGarbage()
    const before = oneLook()
    const { ms, status } = await stillFor(body, contentType)
    expect(status).toBe(expected)
    shortest = Math.min(shortest, ms / ((before + oneLook()) / 2))
  }
  return shortest
}

it.each<[string, string, number]>([
  ['newlines and an x', `${'\n'.repeat(full - 1)}x`, 400],
  ['spaces', `{"records": [${' '.repeat(full - 100)}]}`, 400],
  ['one word', 'x'.repeat(full), 400],
  ['one number', `[${'1'.repeat(full - 2)}]`, 400],
  ['one number that is nearly zero', `{"records": [0.${'0'.repeat(full - 100)}1]}`, 400],
  ['escapes', named(manyOf('\\n')), 400],
  ['escapes and a mistake', named(manyOf('\\n')).slice(0, -1), 400],
  ['escapes by number', named(manyOf('\\u00e9')), 400],
  ['a long string', named(manyOf('x')), 400],
  ['a long string in Chinese', named(manyOf('漢')), 400],
  ['a long name', `{"records": [{"${manyOf('x')}": 1}]}`, 400],
  ['brackets', '['.repeat(90_000), 400],
  ['names without end', `{${Array.from({ length: 90_000 }, (_, n) => `"x${n}":1`)}}`, 400],
  ['a name twice at the end', `{${manyOf('\n')}"a": 1, "a": 2}`, 400],
  ['as much text as is taken', JSON.stringify(shops(full / 3500, 'x'.repeat(3000))), 200],
  ['as much text as is not taken', JSON.stringify(shops(full / 5600, 'x'.repeat(5000))), 400],
])(
  'a body of %s holds up nobody for long',
  async (_, text, expected) => {
    expect(await shortestFor(text, expected)).toBeLessThan(longest)
  },
  60_000,
)

const header = 'shop_id,name,region\n'
it.each<[string, string, string, number]>([
  ['empty lines', 'application/x-ndjson', '\n'.repeat(full), 400],
  ['blank lines', 'application/x-ndjson', ' \n'.repeat(full / 2), 400],
  ['one line', 'application/x-ndjson', '['.repeat(full), 400],
  ['a string without end', 'application/x-ndjson', `{"name": "${manyOf('\\n')}`, 400],
  ['long lines', 'application/x-ndjson', `{"name": "${'\\n'.repeat(full / 11)}\n`.repeat(5), 400],
  ['lines of lists', 'application/x-ndjson', `${'[],'.repeat(150)}\n`.repeat(4999), 400],
  ['lines that are nearly records', 'application/x-ndjson', '{"nam": 1, "regio": 2, "shopid": 3}\n'.repeat(2000), 400],
  ['empty lines', 'text/csv', header + '\n'.repeat(full - 100), 400],
  ['commas', 'text/csv', header + ','.repeat(full - 100), 400],
  ['quotes', 'text/csv', header + '"'.repeat(full - 100), 400],
  ['quotes that are never closed', 'text/csv', header + '"\n""\n'.repeat(10_000), 400],
  ['a header without end', 'text/csv', ','.repeat(full), 400],
  ['lines that are nearly records', 'text/csv', `nam,regio,shop_id\n${'x,y,z\n'.repeat(2000)}`, 400],
])(
  '%s in %s hold up nobody for long',
  async (_, contentType, text, expected) => {
    expect(await shortestFor(text, expected, contentType)).toBeLessThan(longest)
  },
  60_000,
)
