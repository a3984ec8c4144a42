import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { interaction } from '#schemas/records/interaction.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { sampleOf } from '../support/sample.js'
import { startEdge } from '../support/system/another-service.js'
import { kill } from '../support/system/processes.js'
import { analyst, newOrganisation, operate } from '../support/system/system.js'
import { createUploader, type UploadAnswer } from '../support/system/uploader.js'

type Page = { interactions: Record<string, unknown>[]; next_cursor: string | null }
type Refusal = { error: string; problems: { field: string; code: string }[] }
type Rejection = { request_id: string; problems: { code: string }[] }

const org = await newOrganisation('interactions')
const items: Record<string, string> = {}
let student = ''

const given = (over: Record<string, unknown> = {}) =>
  sampleOf(interaction, {
    student_id: student,
    item_type: 'SHOP',
    item_id: items.SHOP,
    recommendation_id: null,
    ...over,
  })

beforeAll(async () => {
  const shopId = randomUUID()
  for (const [kind, path] of Object.entries({ SHOP: 'shops', TAG: 'tags', KEYWORD: 'keywords', OFFER: 'offers' })) {
    const type = catalogue.uploads.get(path)
    if (!type) throw new Error(path)
    const id = kind === 'SHOP' ? shopId : randomUUID()
    const over = kind === 'OFFER' ? { shop_id: shopId } : {}
    expect((await org.uploader.upload(path, [sampleOf(type, { [type.id]: id, ...over })])).status).toBe(200)
    items[kind] = id
  }
  student = randomUUID()
  const customer = catalogue.uploads.get('customers')
  if (!customer) throw new Error('customers')
  await org.uploader.upload('customers', [sampleOf(customer, { customer_id: student })])
})

describe('recording', () => {
  it.each(['TAG', 'OFFER', 'SHOP', 'KEYWORD'])('takes an interaction with a %s', async (kind) => {
    const sent = given({ item_type: kind, item_id: items[kind], source: 'SERVICE', recommendation_id: randomUUID() })
    const { status, body } = await org.uploader.interact(sent)
    expect(status).toBe(201)
    expect(body).toEqual({ ...sent, interaction_id: expect.any(String), recorded_at: expect.any(String) })
    await eventually(async () => {
      const page = await org.uploader.get<Page>(`/user-interactions?item_id=${items[kind]}&item_type=${kind}`)
      expect(page.body.interactions).toMatchObject([
        {
          interaction_id: body.interaction_id,
          recorded_at: body.recorded_at,
          item_type: kind,
          item_id: items[kind],
          student_id: student,
          source: 'SERVICE',
          event_timestamp: new Date(1_717_151_415_000).toISOString(),
        },
      ])
    })
  })

  it('refuses an item of another kind, an unknown item and an unknown student', async () => {
    const cases: [Record<string, unknown>, string][] = [
      [{ item_type: 'TAG', item_id: items.SHOP }, 'item_id'],
      [{ item_id: randomUUID() }, 'item_id'],
      [{ student_id: randomUUID() }, 'student_id'],
    ]
    for (const [over, field] of cases) {
      const { status, body } = await org.uploader.interact<Refusal>(given(over))
      expect(status).toBe(400)
      expect(body.problems).toMatchObject([{ field, code: 'unknown_reference' }])
    }
  })

  it('refuses what is not valid by itself at once', async () => {
    const { status, body } = await org.uploader.interact<Refusal>(given({ interaction_type: 'STARE', platfrom: 'WEB' }))
    expect(status).toBe(400)
    expect(body).toMatchObject({ error: 'Bad Request', message: expect.any(String), request_id: expect.any(String) })
    expect(body.problems.map(({ field, code }) => [field, code])).toEqual([
      ['interaction_type', 'not_one_of'],
      ['platfrom', 'unknown_field'],
    ])
  })

  it('is known by the request id that was answered, in ClickHouse and where requests are looked up', async () => {
    const sent = [given(), given({ item_id: randomUUID() }), given({ platfrom: 'WEB' })]
    const answers = await Promise.all(sent.map((one) => org.uploader.interact<{ request_id?: string }>(one)))
    expect(answers.map(({ status }) => status)).toEqual([201, 400, 400])
    const ids = answers.map(({ headers }) => headers.get('x-request-id'))
    expect(answers.slice(1).map(({ body }) => body.request_id)).toEqual(ids.slice(1))
    await eventually(async () => {
      const found = await Promise.all(ids.map((id) => org.uploader.get<UploadAnswer>(`/v1/requests/${id}`)))
      expect(found.map(({ body }) => [body.request_id, body.batches?.map(({ status }) => status)])).toEqual([
        [ids[0], [200]],
        [ids[1], [400]],
        [ids[2], [400]],
      ])
      const rows = await analyst.query<{ request_id: string; code: string }>(
        `select request_id, 'none' as code from weir.interactions_log where org_id = {org:String} and request_id in {ids:Array(UUID)}
        union all
        select request_id, problems[1].code from weir.rejections where org_id = {org:String} and request_id in {ids:Array(UUID)}`,
        { org: org.name, ids },
      )
      expect(new Map(rows.map(({ request_id, code }) => [request_id, code]))).toEqual(
        new Map([
          [ids[0], 'none'],
          [ids[1], 'unknown_reference'],
          [ids[2], 'unknown_field'],
        ]),
      )
    })
  })

  it('answers many at once, each with its own', async () => {
    const sent = Array.from({ length: 200 }, (_, i) =>
      given({ user_id: `user ${i}`, ...(i % 10 ? {} : { item_id: randomUUID() }) }),
    )
    const answers = await Promise.all(
      sent.map((one) => org.uploader.interact<{ user_id?: string; interaction_id?: string }>(one)),
    )
    for (const [i, { status, body }] of answers.entries()) {
      expect(status).toBe(i % 10 ? 201 : 400)
      if (i % 10) expect(body.user_id).toBe(`user ${i}`)
    }
    expect(new Set(answers.map(({ body }) => body.interaction_id)).size).toBe(181)
  })

  it('takes an interaction once, however often its Idempotency-Key comes', async () => {
    const user = randomUUID()
    const key = { 'idempotency-key': randomUUID() }
    const sent = given({ user_id: user })
    const answers = await Promise.all(Array.from({ length: 5 }, () => org.uploader.interact(sent, key)))
    const again = await org.uploader.interact(sent, key)
    const ids = new Set([...answers, again].map(({ status, body }) => `${status} ${body.interaction_id}`))
    expect(ids.size).toBe(1)
    expect((await org.uploader.interact(given({ user_id: 'another' }), key)).status).toBe(409)
    await eventually(async () => {
      const page = await org.uploader.get<Page>(`/user-interactions?user_id=${user}`)
      expect(page.body.interactions).toHaveLength(1)
    })
  })
})

describe('an interaction with an Idempotency-Key', () => {
  const newKey = () => ({ 'idempotency-key': randomUUID() })
  const idOf = ({ headers }: { headers: Headers }) => String(headers.get('x-request-id'))
  const found = async (id: string) => {
    const { body } = await org.uploader.get<UploadAnswer>(`/v1/requests/${id}`)
    return [body.request_id, ...(body.batches ?? []).map(({ status }) => status)]
  }
  /** What `weir rejected list` says of a request once so many of its rejections are in ClickHouse. */
  const rejectionsOf = async (id: string, count: number): Promise<Rejection[]> => {
    await eventually(async () => {
      const rows = await analyst.query('select 1 from weir.rejections where request_id = {id:UUID}', { id })
      expect(rows).toHaveLength(count)
    })
    const { rejections } = await operate<{ rejections: Rejection[] }>(['rejected', 'list', '--request', id])
    return rejections
  }
  const codesOf = (rejections: Rejection[]) =>
    rejections.map(({ request_id, problems }) => [request_id, ...problems.map(({ code }) => code)])

  it('is known by the request id that was answered, also among others that were gathered with it', async () => {
    const sent = [
      given(),
      given({ item_id: randomUUID() }),
      given({ platfrom: 'WEB' }),
      given({ item_id: randomUUID() }),
    ]
    const keys = [newKey(), newKey(), newKey(), {}]
    const answers = await Promise.all(sent.map((one, i) => org.uploader.interact(one, keys[i])))
    expect(answers.map(({ status }) => status)).toEqual([201, 400, 400, 400])
    const [taken, ghost, invalid, unkeyed] = answers.map(idOf) as [string, string, string, string]
    await eventually(async () => {
      expect(await found(taken)).toEqual([taken, 200])
      expect(await found(ghost)).toEqual([ghost, 400])
      expect(await found(invalid)).toEqual([invalid, 400])
      expect(await found(unkeyed)).toEqual([unkeyed, 400])
      const rows = await analyst.query<{ request_id: string }>(
        'select request_id from weir.interactions_log where org_id = {org:String} and interaction_id = {id:UUID}',
        { org: org.name, id: answers[0]?.body.interaction_id },
      )
      expect(rows).toEqual([{ request_id: taken }])
    })
    expect(codesOf(await rejectionsOf(ghost, 1))).toEqual([[ghost, 'unknown_reference']])
    expect(codesOf(await rejectionsOf(invalid, 1))).toEqual([[invalid, 'unknown_field']])
    expect(codesOf(await rejectionsOf(unkeyed, 1))).toEqual([[unkeyed, 'unknown_reference']])
    const shown = await operate<(Rejection & { record: unknown })[]>(['rejected', 'show', ghost])
    expect(shown).toMatchObject([{ request_id: ghost, record: { item_id: sent[1]?.item_id } }])
    const stranger = await newOrganisation('interactions-stranger')
    expect((await stranger.uploader.get(`/v1/requests/${ghost}`)).status).toBe(404)
  })

  it('keeps its request id over retries: refused, refused again, accepted, and then accepted for good', async () => {
    const shop = catalogue.uploads.get('shops')
    if (!shop) throw new Error('shops')
    const later = sampleOf(shop)
    const key = newKey()
    const sent = given({ item_id: later.shop_id })
    const refusals = [await org.uploader.interact(sent, key), await org.uploader.interact(sent, key)]
    expect(refusals.map(({ status }) => status)).toEqual([400, 400])
    const [id = '', again] = refusals.map(idOf)
    expect(again).toBe(id)
    expect(await found(id)).toEqual([id, 400])

    await org.uploader.upload('shops', [later])
    const answers = await Promise.all(Array.from({ length: 3 }, () => org.uploader.interact(sent, key)))
    expect(answers.map((answer) => [answer.status, idOf(answer)])).toEqual(Array(3).fill([201, id]))
    expect(await found(id)).toEqual([id, 200])
    // Neither another body nor an invalid one changes what became of the first.
    expect((await org.uploader.interact(given({ user_id: 'another' }), key)).status).toBe(409)
    expect((await org.uploader.interact(given({ platfrom: 'WEB' }), key)).status).toBe(400)
    const codes = (await rejectionsOf(id, 3)).map(({ problems }) => problems[0]?.code)
    expect(codes.sort()).toEqual(['unknown_field', 'unknown_reference', 'unknown_reference'])
    expect(await found(id)).toEqual([id, 200])
  })

  // In every run a batch is: test/journeys/no-verdict.e2e.test.ts.
  itDeep('has its request id where integrity is killed before it decides, and so has the retry', async () => {
    // An edge of its own, so that nobody has to wait for the usual half a minute.
    const edge = await startEdge({ VERDICT_TIMEOUT_MS: '1000' })
    const key = newKey()
    const sent = given({ item_id: randomUUID() })
    try {
      kill('integrity', 'SIGSTOP')
      const unknown = await createUploader(edge.url, org.key).interact<{ request_id: string }>(sent, key)
      expect(unknown.status).toBe(500)
      kill('integrity')
      const id = unknown.body.request_id
      await eventually(async () => expect(await found(id)).toEqual([id, 400]), 60_000)
      const again = await org.uploader.interact(sent, key)
      expect([again.status, idOf(again)]).toEqual([400, id])
      expect(codesOf(await rejectionsOf(id, 2))).toEqual(Array(2).fill([id, 'unknown_reference']))
    } finally {
      await edge.stop()
    }
  })
})

describe('many in a request', () => {
  type Row = { interaction_id: string; recorded_at: string; user_id: string; request_id: string }
  const rowsOf = (where: string, more: object) =>
    analyst.query<Row>(
      `select interaction_id, toString(recorded_at) as recorded_at, user_id, request_id from weir.interactions_log
      where org_id = {org:String} and ${where}`,
      { org: org.name, ...more },
    )

  it('are recorded once under a key, with ids and the time from the service, beside those that are refused', async () => {
    const run = randomUUID()
    const records = Array.from({ length: 1200 }, (_, i) =>
      given({ user_id: `${run} ${i}`, ...(i % 100 === 7 && { item_id: randomUUID() }) }),
    )
    records[8] = { ...records[8], interaction_id: randomUUID() }
    const key = { 'idempotency-key': randomUUID() }
    const answers = await Promise.all([1, 2, 3].map(() => org.uploader.upload('interactions', records, key)))
    const again = await org.uploader.upload('interactions', records, key)
    for (const { status, body } of [...answers, again]) {
      expect([status, body.request_id]).toEqual([207, again.body.request_id])
      expect(body.batches.map((batch) => batch.data.errors?.length ?? 0)).toEqual([6, 5, 2])
    }
    const other = await org.uploader.upload('interactions', records.slice(1), key)
    expect(other.status).toBe(409)
    const { request_id } = again.body
    expect((await org.uploader.get<UploadAnswer>(`/v1/requests/${request_id}`)).body.batches).toEqual(
      again.body.batches,
    )
    await eventually(async () => {
      const rows = await rowsOf('startsWith(user_id, {run:String})', { run })
      expect(rows).toHaveLength(1187)
      expect(new Set(rows.map((row) => row.request_id))).toEqual(new Set([request_id]))
      const places = rows.map(({ interaction_id, user_id }) => [
        Number.parseInt(interaction_id.slice(-4), 16),
        Number(user_id.split(' ')[1]),
      ])
      for (const [place, sent] of places) expect(place).toBe(sent)
      expect(new Set(places.map(([place]) => place)).size).toBe(1187)
    })
    const [first] = await rowsOf('user_id = {user:String}', { user: `${run} 0` })
    const journey = await org.uploader.get<{ steps: unknown[] }>(
      `/v1/data/interactions/${first?.interaction_id}/journey`,
    )
    expect(journey.status).toBe(200)
    // Those that were refused for what was missing can be submitted again, once it is there.
    const rejected = await operate<{ rejections: { index: number }[] }>(['rejected', 'list', '--request', request_id])
    expect(rejected.rejections.map(({ index }) => index).sort((a, b) => a - b)).toEqual([
      7,
      8,
      ...Array.from({ length: 11 }, (_, n) => 107 + n * 100),
    ])
  })

  it('wait for what they refer to, and are recorded once it is there', async () => {
    const shop = catalogue.uploads.get('shops')
    if (!shop) throw new Error('shops')
    const later = sampleOf(shop)
    const run = randomUUID()
    const records = [given({ user_id: run }), given({ user_id: run, item_id: later.shop_id })]
    const { status, body } = await org.uploader.upload('interactions?missing_references=wait', records)
    expect(status).toBe(207)
    const [waiting] = body.batches[0]?.data.waiting ?? []
    expect(waiting).toMatchObject({ index: 1, for: [{ field: 'item_id', id: later.shop_id }] })
    await org.uploader.upload('shops', [later])
    await eventually(async () => {
      const rows = await rowsOf('user_id = {run:String}', { run })
      expect(rows.map(({ interaction_id }) => interaction_id)).toContain(waiting?.id)
      expect(rows).toHaveLength(2)
    })
  })
})

describe('reading', () => {
  const user = randomUUID()
  beforeAll(async () => {
    // Several share one moment, so that a page may end between equals.
    const sent = Array.from({ length: 25 }, (_, i) =>
      given({ user_id: user, event_timestamp: 1_700_000_000 + Math.floor(i / 4), platform: i % 2 ? 'WEB' : 'IOS' }),
    )
    await Promise.all(sent.map((one) => org.uploader.interact(one)))
    await eventually(async () => {
      const { body } = await org.uploader.get<Page>(`/user-interactions?user_id=${user}`)
      expect(body.interactions).toHaveLength(25)
    })
  })

  it('gives pages, newest first, none twice and none missing', async () => {
    const seen: Record<string, unknown>[] = []
    let cursor = ''
    for (let pages = 0; pages < 10; pages++) {
      const { body } = await org.uploader.get<Page>(`/user-interactions?user_id=${user}&limit=7${cursor}`)
      seen.push(...body.interactions)
      if (body.next_cursor === null) break
      cursor = `&cursor=${body.next_cursor}`
    }
    expect(new Set(seen.map(({ interaction_id }) => interaction_id)).size).toBe(25)
    const times = seen.map(({ event_timestamp }) => String(event_timestamp))
    expect(times).toEqual([...times].sort().reverse())
  })

  it('filters', async () => {
    const count = async (query: string) =>
      (await org.uploader.get<Page>(`/user-interactions?user_id=${user}&${query}`)).body.interactions.length
    expect(await count('platform=WEB')).toBe(12)
    expect(await count(`student_id=${student}`)).toBe(25)
    expect(await count(`student_id=${randomUUID()}`)).toBe(0)
    expect(await count('from=1700000001&to=1700000003')).toBe(8)
    expect(await count('from=2023-11-14T22:13:25Z')).toBe(5)
    expect(await count('interaction_type=SHARE')).toBe(0)
  })

  it('refuses what it does not know', async () => {
    for (const query of ['limit=0', 'limit=1001', 'cursor=abc', 'item_id=x', 'useer_id=1', 'platform=FRIDGE']) {
      expect((await org.uploader.get(`/user-interactions?${query}`)).status, query).toBe(400)
    }
  })
})
