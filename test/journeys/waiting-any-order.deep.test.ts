// Records of all types are uploaded in random order, children before their parents: each is accepted once in the end, whatever
// is killed meanwhile; and where a parent never comes, its children are refused, and no others.
// WAITING_RECORDS=100000 makes it the size of a real first upload.
import { expect, it, onTestFinished } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { viewOf } from '#schemas/derive/names.js'
import { createReferencesOf, hasVersions, type RecordType } from '#schemas/record.js'
import { createWeir, type Interaction, type Weir } from '../../clients/typescript/src/index.js'
import { createChance, idOf } from '../../schemas/samples/chance.js'
import { amountsFor, recordAt, type Sample } from '../../schemas/samples/records.js'
import { eventually } from '../support/eventually.js'
import { isDeep, sized } from '../support/sized.js'
import { startEdge } from '../support/system/another-service.js'
import { untilQuiet } from '../support/system/groups.js'
import { killServicesUntil } from '../support/system/processes.js'
import { analyst, newOrganisation, operate, system } from '../support/system/system.js'

const total = Number(process.env.WAITING_RECORDS ?? sized(300, 10_000))
const seed = 14
// Longer than a slow machine takes to decide them for the first time: then they would not wait at all.
const doomedFor = 20
const patience = 900_000

/** `mark` tells the record from all others: its id, or the user's of an interaction, whose id the service gives. */
type Item = { type: RecordType; mark: string; record: Record<string, unknown> }
type Upload = { type: RecordType; items: Item[]; waitFor: string }

const markOf = (type: RecordType): string => (hasVersions(type) ? type.id : 'user_id')

const itemsOf = (items: readonly Item[], type: RecordType): Item[] => items.filter((item) => item.type === type)

const makeItems = (): Item[] => {
  // About 6.1 uploaded records come with a customer; the others, a seventh, are interactions.
  const customers = Math.floor(total / 7.1)
  const { interactions: _, ...uploads } = amountsFor(customers, Math.ceil(customers / 10))
  const interactions = total - Object.values(uploads).reduce((sum, amount) => sum + amount, 0)
  const sample: Sample = { seed, broken: 0, amounts: { ...uploads, interactions } }
  return [...catalogue.all.values()].flatMap((type) =>
    Array.from({ length: sample.amounts[type.type] ?? 0 }, (_, i) => {
      const mark = idOf(seed, type.type, i)
      const more = hasVersions(type) ? { updated: '2026-02-02T00:00:00Z' } : { user_id: mark }
      return { type, mark, record: { ...recordAt(sample, type, i), ...more } }
    }),
  )
}

const inRandomOrder = <T>(of: readonly T[], ...place: string[]): T[] => {
  const chance = createChance(seed, ...place)
  const order = [...of]
  for (let last = order.length - 1; last > 0; last--) {
    const other = chance.below(last + 1)
    ;[order[last], order[other]] = [order[other] as T, order[last] as T]
  }
  return order
}

/** Requests of some hundred records at the most, and several of each type; some interactions come by themselves. */
const toUploads = (items: readonly Item[], waitFor: string): Upload[] =>
  [...catalogue.all.values()].flatMap((type) => {
    const ofType = inRandomOrder(itemsOf(items, type), type.type)
    const size = Math.max(1, Math.min(type.limit, 300, Math.ceil(ofType.length / 8)))
    const alone = hasVersions(type) ? [] : ofType.splice(0, Math.min(100, Math.ceil(ofType.length / 4)))
    const requests = Array.from({ length: Math.ceil(ofType.length / size) }, (_, i) =>
      ofType.slice(i * size, (i + 1) * size),
    )
    return [...alone.map((item) => [item]), ...requests].map((items) => ({ type, waitFor, items }))
  })

/** Sends them in random order, many at a time; resolves to the ids of the requests, and how many records waited. */
const sendAll = async (weir: Weir, uploads: readonly Upload[]) => {
  const queue = inRandomOrder(uploads, 'uploads')
  const requests: { requestId: string; upload: Upload }[] = []
  let waited = 0
  const sendOne = async (upload: Upload): Promise<void> => {
    const { type, items, waitFor } = upload
    const options = { missingReferences: 'wait', waitFor } as const
    const records = items.map(({ record }) => record)
    if (type === catalogue.interaction && records.length === 1) {
      const { waiting } = await weir.interactions.record(records[0] as unknown as Interaction, options)
      waited += waiting ? 1 : 0
      return
    }
    const { requestId, refused, waiting } = await weir.of(type.type).send(records, options)
    // Where its first answer was lost, those whose time is up meanwhile are told as refused.
    expect(refused.filter(({ problems }) => !problems[0]?.message.includes('waited'))).toEqual([])
    waited += waiting.length
    requests.push({ requestId, upload })
  }
  const send = async (): Promise<void> => {
    for (let next = queue.pop(); next; next = queue.pop()) await sendOne(next)
  }
  await Promise.all(Array.from({ length: 24 }, send))
  return { requests, waited }
}

const untilNothingWaits = (weir: Weir): Promise<void> =>
  eventually(async () => {
    for await (const missing of weir.waiting.list()) expect(missing).toBeUndefined()
  }, patience)

/** Exactly these are in the views, each once and in its newest version; nothing waits there; and `verify` finds no difference. */
const expectEachOnce = async (org: string, items: readonly Item[]): Promise<void> => {
  await untilQuiet(system.env.KAFKA_BROKERS, patience)
  for (const type of catalogue.all.values()) {
    const updated = hasVersions(type) ? 'toString(toUnixTimestamp(updated))' : `''`
    const rows = await analyst.query<{ mark: string; updated: string }>(
      `select toString(${markOf(type)}) as mark, ${updated} as updated
      from weir.${viewOf(type.type)} where org_id = {org:String} order by mark`,
      { org },
    )
    const expected = itemsOf(items, type).map(({ mark, record }) => ({
      mark,
      updated: hasVersions(type) ? String(Date.parse(String(record.updated)) / 1000) : '',
    }))
    expect(rows, type.type).toEqual(expected.sort((a, b) => (a.mark < b.mark ? -1 : 1)))
  }
  await eventually(async () => {
    expect(await analyst.query('select * from weir.waiting where org_id = {org:String}', { org })).toEqual([])
  }, patience)
  type Report = { is_clean: boolean; differences: object[]; types: { waiting: number; in_flight: number }[] }
  const report = await operate<Report>(['verify', '--org', org])
  expect(report).toMatchObject({ is_clean: true, differences: [] })
  for (const type of report.types) expect(type).toMatchObject({ waiting: 0, waiting_for_references: 0, in_flight: 0 })
}

const statesOf = async (org: string): Promise<Record<string, number>> => {
  const rows = await analyst.query<{ state: string; count: string }>(
    'select state, toString(count()) as count from weir.waiting_log final where org_id = {org:String} group by state',
    { org },
  )
  return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]))
}

it(`accepts each of ${total} records in random order once, whatever is killed`, { timeout: 3_600_000 }, async () => {
  const org = await newOrganisation('any-order')
  const weir = createWeir({ url: system.edgeUrl, key: org.key })
  const items = makeItems()
  // The first half is all answered before the second one is sent, and some of the first come again there in a newer version.
  const order = inRandomOrder(items, 'halves')
  const [first, second] = [order.slice(0, total / 2), order.slice(total / 2)]
  const chance = createChance(seed, 'revised')
  const revised = first.filter(({ type }) => hasVersions(type) && chance.isLikely(0.05))
  const isRevised = new Set(revised)
  const old = (item: Item): Item => ({ ...item, record: { ...item.record, updated: '2026-01-01T00:00:00Z' } })

  let isOver = false
  const kills = killServicesUntil(() => isOver, sized(4_000, 10_000))
  try {
    const before = first.map((item) => (isRevised.has(item) ? old(item) : item))
    const { waited } = await sendAll(weir, toUploads(before, '24h'))
    expect(waited).toBeGreaterThan(0)
    await sendAll(weir, toUploads([...second, ...revised], '24h'))
    await untilNothingWaits(weir)
  } finally {
    isOver = true
    await kills
  }
  await untilNothingWaits(weir)
  await expectEachOnce(org.name, items)
  const { accepted, superseded, ...others } = await statesOf(org.name)
  expect([accepted, superseded]).toEqual([expect.any(Number), expect.any(Number)])
  expect(others).toEqual({})
  expect(await rejectionsOf(org.name)).toEqual([])
})

type Rejection = { type: string; record: string; codes: string[]; words: string[] }
const rejectionsOf = (org: string): Promise<Rejection[]> =>
  analyst.query<Rejection>(
    `select type, record, problems.code as codes, problems.message as words
    from weir.rejections where org_id = {org:String}`,
    { org },
  )

/** Leaves out some of the records that others may refer to, and tells apart those that can be accepted then. */
const leaveOutParents = (items: readonly Item[]): { good: Item[]; doomed: Item[] } => {
  const chance = createChance(seed, 'left out')
  const known = new Set<string>()
  const [good, doomed]: [Item[], Item[]] = [[], []]
  // Of each type those that it refers to came before, so a child of a doomed record is doomed itself.
  for (const item of items) {
    const { type, mark, record } = item
    if (catalogue.referenced.has(type.type) && chance.isLikely(sized(0.05, 0.01))) continue
    const references = createReferencesOf(type)(record as Parameters<ReturnType<typeof createReferencesOf>>[0])
    if (!references.every(({ type, id }) => known.has(`${type}/${id}`))) doomed.push(item)
    else {
      good.push(item)
      known.add(`${type.type}/${mark}`)
    }
  }
  return { good, doomed }
}

// Its time-outs are also shown by test/journeys/waiting-uploads.e2e.test.ts, in every run.
if (isDeep)
  it('refuses exactly those whose parents never come, at their time', { timeout: 3_600_000 }, async () => {
    const org = await newOrganisation('no-parents')
    // Lets records wait for some seconds only, and not for a minute at the least.
    const edge = await startEdge({ MIN_WAIT_SECONDS: '1', LOG_LEVEL: 'warn' })
    onTestFinished(edge.stop)
    const weir = createWeir({ url: edge.url, key: org.key })
    const { good, doomed } = leaveOutParents(makeItems())
    expect(new Set(doomed.map(({ type }) => type.type))).toContain('interactions')
    // Long enough for everything that can be accepted, however slow this machine is; short where the end is to be seen.
    const { requests } = await sendAll(weir, [...toUploads(good, '24h'), ...toUploads(doomed, `${doomedFor}s`)])
    await untilNothingWaits(weir)
    await expectEachOnce(org.name, good)

    const rejections = await rejectionsOf(org.name)
    const marks = rejections.map(({ type, record }) => {
      const known = catalogue.all.get(type) as RecordType
      return `${type}/${JSON.parse(record)[markOf(known)]}`
    })
    expect(marks.sort()).toEqual(doomed.map(({ type, mark }) => `${type.type}/${mark}`).sort())
    for (const { codes, words } of rejections) {
      expect(new Set(codes)).toEqual(new Set(['unknown_reference']))
      for (const each of words) expect(each).toContain(`waited ${doomedFor} seconds for it`)
    }
    const early =
      'select * from weir.waiting_log final where org_id = {org:String} and state = {state:String} and changed_at < until'
    expect(await analyst.query(early, { org: org.name, state: 'refused' })).toEqual([])
    const { accepted, ...others } = await statesOf(org.name)
    expect(accepted).toBeGreaterThan(0)
    expect(others).toEqual({ refused: doomed.length })

    for (const { requestId, upload } of requests.filter(({ upload }) => upload.waitFor === `${doomedFor}s`)) {
      const { batches } = await weir.requests.get(requestId)
      expect(batches.flatMap(({ waited }) => waited.map(({ state }) => state))).toEqual(
        upload.items.map(() => 'refused'),
      )
      expect(batches.flatMap(({ refused }) => refused)).toHaveLength(upload.items.length)
    }
  })
