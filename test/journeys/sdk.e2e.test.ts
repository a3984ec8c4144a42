import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createWeir } from '../../clients/typescript/src/index.js'
import {
  answerDifferences,
  conformanceCases,
  createNames,
  type Exchange,
  type Names,
  requestDifferences,
} from '../clients/conformance/cases.js'
import { driveSdk } from '../clients/conformance/drive-sdk.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { sized } from '../support/sized.js'
import { kill } from '../support/system/processes.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'

const org = await newOrganisation('sdk')

// The scripts of the unit test are right only if the system answers as they say.
it.each(conformanceCases.filter(({ real }) => real))('in earnest: $name', async ({ calls }) => {
  const names = createNames()
  for (const call of calls) {
    const watched = watch(call.exchanges, names)
    const differences = await driveSdk(call, names, { url: system.edgeUrl, key: org.key, fetch: watched.fetch })
    expect([...watched.differences, ...differences]).toEqual([])
    expect(watched.left(), 'exchanges that did not take place').toBe(0)
  }
})

itDeep('uploads each record once and in order while edge and integrity are killed', async () => {
  const { name, key } = await newOrganisation('sdk-kills')
  const ids = Array.from({ length: sized(75, 300) }, () => randomUUID())
  // Each id comes forty times; some of its records are wrong.
  const records = Array.from({ length: 40 * ids.length }, (_, i) => ({
    shop_id: ids[i % ids.length] ?? '',
    name: String(i),
    region: i % 41 === 7 ? 'nowhere' : 'GB',
  }))
  const good = records.filter(({ region }) => region === 'GB')
  const killAt = new Map([
    [ids.length * 7, 'edge'],
    [ids.length * 17, 'integrity'],
    [ids.length * 27, 'edge'],
  ])
  const refused: number[] = []
  const retried: unknown[] = []
  const result = await createWeir({ url: system.edgeUrl, key }).shops.upload(records, {
    batchSize: 100,
    onRefused: ({ index, record }) => {
      expect(record).toBe(records[index])
      refused.push(index)
    },
    onProgress: ({ settled }) => {
      for (const [at, service] of killAt) {
        if (settled < at) continue
        killAt.delete(at)
        kill(service)
      }
    },
    onRetry: (retry) => retried.push(retry),
  })
  expect(killAt.size).toBe(0)
  expect(retried).not.toEqual([])
  expect(result).toEqual({
    accepted: good.length,
    refused: records.length - good.length,
    waiting: 0,
    requests: records.length / 100,
  })
  expect(refused.sort((a, b) => a - b)).toEqual(records.flatMap(({ region }, i) => (region === 'GB' ? [] : [i])))

  // Every version of every id, each once, in the order in which they were given.
  const inOrder = (shops: readonly { shop_id: string; name: string }[]) =>
    Object.fromEntries(ids.map((id) => [id, shops.flatMap((each) => (each.shop_id === id ? [each.name] : []))]))
  await eventually(async () => {
    const kept = await analyst.query<{ shop_id: string; name: string }>(
      'select shop_id, name from weir.shops_history where org_id = {org:String} order by version',
      { org: name },
    )
    expect(inOrder(kept)).toEqual(inOrder(good))
  })
})

it('shows refused records, and has them submitted again once their reason is gone', async () => {
  const { key } = await newOrganisation('sdk-rejections')
  const weir = createWeir({ url: system.edgeUrl, key })
  const shop_id = randomUUID()
  const offers = Array.from({ length: 3 }, () => ({
    offer_id: randomUUID(),
    shop_id,
    name: 'Early',
    type: 'fixed',
    value: 1,
    region: 'GB',
  }))
  const { requestId, refused } = await weir.offers.send(offers)
  expect(refused).toHaveLength(3)
  const listed = async () => {
    const all = []
    for await (const each of weir.rejections.list({ request_id: requestId }, { pageSize: 2 })) all.push(each)
    return all
  }
  const given = new Map<unknown, unknown>(offers.map((offer) => [offer.offer_id, offer]))
  const open = await eventually(async () => {
    const all = await listed()
    expect(all).toHaveLength(3)
    return all
  })
  for (const { id, record, state, problems } of open) {
    expect({ record, state }).toEqual({ record: given.get(id), state: 'open' })
    expect(problems).toMatchObject([{ code: 'unknown_reference', field: 'shop_id' }])
  }
  expect(await weir.rejections.summary({ request_id: requestId })).toMatchObject([
    { type: 'offers', code: 'unknown_reference', field: 'shop_id', count: 3, sample: { truncated: false } },
  ])

  await weir.shops.send([{ shop_id, name: 'Late Books', region: 'GB' }])
  const ordered = await weir.rejections.retry({ request_id: requestId })
  expect(ordered).toMatchObject({ matched: 3, submitted: 3 })
  await eventually(async () => {
    const now = await weir.rejections.getRetry(ordered.request_id)
    expect(now).toMatchObject({ status: 'done', accepted: 3, refused: 0 })
  })
  await eventually(async () => {
    for (const { state, retry } of await listed()) {
      expect(state).not.toBe('open')
      expect(retry?.retry_request_id).toBe(ordered.request_id)
    }
  })
  // Over all days: it may be midnight.
  await eventually(async () => {
    const days = (await weir.quality.get()).filter(({ type }) => type === 'offers')
    const sum = (what: 'received' | 'accepted' | 'refused') => days.reduce((total, day) => total + day[what], 0)
    expect([sum('received'), sum('accepted'), sum('refused')]).toEqual([6, 3, 3])
    expect(days.flatMap(({ top_codes }) => top_codes)).toEqual([{ code: 'unknown_reference', count: 3 }])
  })
})

// Each is a request of its own in the log, decided and published like one that a person made.
const recorded = sized(800, 2000)

it('records interactions that come one by one, each once, while edge and integrity are killed', async () => {
  const { name, key } = await newOrganisation('sdk-recorder')
  const weir = createWeir({ url: system.edgeUrl, key })
  const shop_id = randomUUID()
  await weir.shops.send([{ shop_id, name: 'Corner Books', region: 'GB' }])
  const refused: unknown[] = []
  const recorder = weir.recorder({ batchSize: 50, onRefused: ({ interaction }) => refused.push(interaction.user_id) })
  const isWrong = (n: number) => n % 100 === 50
  for (let n = 0; n < recorded; n++) {
    const item_id = isWrong(n) ? randomUUID() : shop_id
    const touched = { interaction_type: 'SHARE', item_type: 'SHOP', item_id, event_timestamp: new Date() } as const
    expect(recorder.record({ ...touched, user_id: `${n}` })).toBe(true)
    if (n === 0.35 * recorded) kill('edge')
    if (n === 0.7 * recorded) kill('integrity')
  }
  expect(await recorder.close({ withinMs: 120_000 })).toEqual({
    accepted: 0.99 * recorded,
    refused: recorded / 100,
    waiting: 0,
    lost: 0,
    held: 0,
  })
  expect(refused.map(Number).every(isWrong)).toBe(true)
  await eventually(async () => {
    const [row] = await analyst.query<{ events: string; users: string }>(
      `select toString(count()) as events, toString(uniqExact(user_id)) as users
      from weir.interactions_log where org_id = {org:String}`,
      { org: name },
    )
    expect(row).toEqual({ events: `${0.99 * recorded}`, users: `${0.99 * recorded}` })
  })
})

/** Passes requests on to the system, and notes where they or their answers are not as they should be. */
const watch = (exchanges: readonly Exchange[], names: Names) => {
  const differences: string[] = []
  let made = 0
  const watchedFetch: typeof fetch = async (input, init = {}) => {
    const exchange = exchanges[made]
    made += 1
    const response = await fetch(input, init)
    if (!exchange || exchange.answer === 'none') {
      differences.push(`request ${made} was not asked for`)
      return response
    }
    const answered = { status: response.status, text: await response.clone().text() }
    const found = [
      ...requestDifferences(names, exchange.request, String(input), init),
      ...answerDifferences(names, exchange.answer, answered),
    ]
    differences.push(...found.map((difference) => `request ${made}: ${difference}`))
    return response
  }
  return { fetch: watchedFetch, differences, left: () => exchanges.length - made }
}
