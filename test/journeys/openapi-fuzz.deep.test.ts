import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { uploads } from '#schemas/catalogue.js'
import type { OpenApi } from '#schemas/derive/openapi.js'
import { eventually } from '../support/eventually.js'
import { createAnswerCheck } from '../support/openapi/answers.js'
import { createRawClient } from '../support/openapi/client.js'
import { type FuzzedRequest, requestsOf } from '../support/openapi/requests.js'
import { knownIds } from '../support/openapi/values.js'
import { sampleOf } from '../support/sample.js'
import { sized } from '../support/sized.js'
import { startEdge } from '../support/system/another-service.js'
import { pidOf } from '../support/system/processes.js'
import { newOrganisation } from '../support/system/system.js'
import { createUploader } from '../support/system/uploader.js'

// In every run each answer in a unit test of the edge is compared with the document (test/services/edge/edge.ts).
// Enough that every kind of answer comes up several times; with FUZZ_REQUESTS=10000 and another seed, to look for more.
const requests = Number(process.env.FUZZ_REQUESTS ?? sized(300, 2_500))
const atOnce = 50
// The same requests each time, so that a failure is of the change and not of the day.
const seed = Number(process.env.FUZZ_SEED ?? 20_261_115)

// An edge of its own, so that nothing is refused only because there is much of it.
const edge = await startEdge({
  ...{
    RATE_REQUESTS_PER_SECOND: '0',
    RATE_RECORDS_PER_SECOND: '0',
    MAX_IMPORTS: String(4 * atOnce),
    LOG_LEVEL: 'warn',
  },
})
const edgeUrl = edge.url
const client = createRawClient(edgeUrl, atOnce)
const org = await newOrganisation('fuzz')
const narrow = await newOrganisation('fuzz-narrow', 'shops:write')

beforeAll(async () => {
  const uploader = createUploader(edgeUrl, org.key)
  for (const type of uploads) {
    const records = knownIds.map((id) => sampleOf(type, idsOf(type.fields, id)))
    expect((await uploader.upload(type.type, records)).status, type.type).toBe(200)
  }
})
afterAll(async () => {
  client.close()
  await edge.stop()
})

it(`answers ${requests} generated requests as its document says, FUZZ_REQUESTS=${requests} FUZZ_SEED=${seed}`, {
  timeout: 300_000,
}, async () => {
  const document = (await (await fetch(`${edgeUrl}/openapi.json`)).json()) as OpenApi
  const { check } = createAnswerCheck(document)
  const before = ['edge', 'integrity', 'sink'].map(pidOf)
  const statuses = new Map<number, number>()

  const faultOf = async (request: FuzzedRequest): Promise<string[]> => {
    const answer = await sendInTurn(request)
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
    // A list or an overview shows what was wrong with earlier requests.
    const isAboutRequest = request.isFitting && !(request.method === 'GET' && answer.status === 200)
    const fault = check(request, answer) ?? (isAboutRequest ? unjust(answer.text) : undefined)
    return fault === undefined
      ? []
      : [`${fault}\n  ${show(request)}\n  → ${answer.status} ${answer.text.slice(0, 500)}`]
  }

  const left = fc.sample(requestsOf(document, [org.key], [narrow.key, 'x', `${org.key}x`]), { numRuns: requests, seed })
  const faults: string[] = []
  const work = async () => {
    for (let request = left.pop(); request; request = left.pop()) faults.push(...(await faultOf(request)))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  // The first few: they tend to be one fault, met many times.
  expect(faults.slice(0, 10), `${faults.length} answers that do not fit`).toEqual([])

  // Each kind of answer was seen, so the fuzz reached what it should.
  for (const status of [200, 201, 202, 207, 400, 401, 403, 404, 405, 409, 415])
    expect(statuses.get(status) ?? 0, `answers with ${status} of ${JSON.stringify([...statuses])}`).toBeGreaterThan(0)
  expect(statuses.get(429)).toBeUndefined()
  expect(['edge', 'integrity', 'sink'].map(pidOf)).toEqual(before)
  await eventually(async () => expect((await fetch(`${edgeUrl}/readyz`)).status).toBe(200))
})

/**
 * One organisation asks more at once than is read or decided for it at once: on a busy machine the edge answers 503, and it comes back.
 */
const sendInTurn = async (request: FuzzedRequest, tries = 10) => {
  for (let left = tries; ; left--) {
    const answer = await client.send(request)
    if (left === 1 || answer.status !== 503 || !isComeBack.test(answer.text)) return answer
    await wait(1000 * Number(answer.retryAfter))
  }
}

const isComeBack = /retrying is safe"/

const idsOf = (fields: (typeof uploads)[number]['fields'], id: string): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, { kind }]) =>
      kind === 'uuid' || kind === 'reference' || kind === 'item' ? [[name, id]] : [],
    ),
  )

/** What fits the document may still name a record that is not there, a year that we do not keep or no cursor of ours. */
const unjust = (text: string): string | undefined =>
  /"field":"(?!cursor")\w+","code":"(?!unknown_reference|out_of_range|idempotency_conflict)\w+"/.exec(text)?.[0]

const show = ({ method, url, headers: { authorization: _, ...headers }, body }: FuzzedRequest): string =>
  `${method} ${url} ${JSON.stringify(headers)} ${body?.toString('latin1').slice(0, 500) ?? ''}`
