import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import { uploads } from '#schemas/catalogue.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { transaction } from '#schemas/records/transaction.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { sized } from '../support/sized.js'
import { pidOf } from '../support/system/processes.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'
import type { UploadAnswer } from '../support/system/uploader.js'

type Refusal = { error: string; message: string; problems?: { field: string; code: string }[] }

const org = await newOrganisation('exact-input')
const shopId = randomUUID()
await org.uploader.upload('shops', [sampleOf(shop, { shop_id: shopId })])

const services = ['edge', 'integrity', 'sink']
const pids = services.map(pidOf)
const post = <T = Refusal>(path: string, body: string | Buffer, headers?: Record<string, string>) =>
  org.uploader.send<T>('POST', path, body, headers)
const postRecords = (type: string, ...records: string[]) =>
  post<UploadAnswer>(`/v1/data/${type}`, `{"records": [${records.join(', ')}]}`)
const problemsOf = ({ body }: { body: UploadAnswer }) =>
  body.batches
    .flatMap(({ data }) => data.errors ?? [])
    .map(({ problems }) => problems.map(({ field, code }) => [field, code]))

// Whatever was sent: nobody stopped, and the next one is served.
afterEach(async () => {
  expect((await org.uploader.upload('shops', [sampleOf(shop)])).status).toBe(200)
  expect(services.map(pidOf)).toEqual(pids)
  await eventually(async () => expect((await fetch(`${system.edgeUrl}/readyz`)).status).toBe(200))
})

describe('nothing is dropped', () => {
  it('org_id is an unknown field, in a record and beside the records, of every type', async () => {
    for (const type of uploads) {
      const answer = await org.uploader.upload(type.type, [sampleOf(type, { org_id: 'demo' })])
      expect([type.type, answer.status, problemsOf(answer)]).toEqual([type.type, 400, [[['org_id', 'unknown_field']]]])
      const beside = await post(`/v1/data/${type.type}`, JSON.stringify({ records: [sampleOf(type)], org_id: 'demo' }))
      expect([beside.status, beside.body.message]).toEqual([400, 'the body has a field besides "records"'])
    }
    const { status, body } = await org.uploader.interact<Refusal>(sampleOf(interaction, { org_id: 'demo' }))
    expect([status, body.problems]).toMatchObject([400, [{ field: 'org_id', code: 'unknown_field' }]])
  })
})

describe('numbers are refused or exact', () => {
  const numbered = (field: string, number: string, id = randomUUID()) =>
    JSON.stringify(
      sampleOf(transaction, { transaction_id: id, shop_id: shopId, is_deleted: false, [field]: '#' }),
    ).replace('"#"', number)

  it.each(['9007199254740993', '-9007199254740993', '1e999', '-1e999', '9007199254740992.5', '1e16'])(
    '%s is refused',
    async (number) => {
      const answer = await postRecords('transactions', numbered('discount_value', number))
      expect([answer.status, problemsOf(answer)]).toEqual([400, [[['discount_value', 'out_of_range']]]])
      const { status, body } = await post(
        '/user-interactions',
        JSON.stringify(sampleOf(interaction, { event_timestamp: '#' })).replace('"#"', number),
      )
      expect(status).toBe(400)
      expect(body.problems).toMatchObject([{ field: 'event_timestamp', code: expect.any(String) }])
    },
  )

  it('one that would become zero is refused', async () => {
    const { status, body } = await post(
      '/v1/data/transactions',
      `{"records": [${numbered('savings', '1')}, ${numbered('savings', '1e-999')}]}`,
    )
    expect([status, body.message]).toEqual([400, expect.stringMatching(/too close to zero.*record 1/)])
  })

  it.each([
    ['9007199254740991', '9007199254740991'],
    ['-9007199254740991', '-9007199254740991'],
    ['-0', '-0'],
    ['0.0', '0'],
    ['5e-324', '5e-324'],
    ['12.5E0', '12.5'],
    // A double, as the spec says: the nearest one to what was written.
    ['0.1000000000000000055511151231257827', '0.1'],
  ])('%s is kept', async (number, kept) => {
    const id = randomUUID()
    expect((await postRecords('transactions', numbered('discount_value', number, id))).status).toBe(200)
    await eventually(async () => {
      const rows = await analyst.query<{ value: string }>(
        'select toString(discount_value) as value from weir.transactions where org_id = {org:String} and transaction_id = {id:UUID}',
        { org: org.name, id },
      )
      expect(rows).toEqual([{ value: kept }])
    })
  })
})

it.each([
  ['records', `{"records": [{}], "records": []}`, /the field records comes twice/],
  ['of a record', `{"records": [{}, {"name": "a", "region": "GB", "name": "b"}]}`, /the field name .*record 1/],
  ['spelled with an escape', `{"records": [{"name": "a", "n\\u0061me": "b"}]}`, /the field name .*record 0/],
  ['with the same value', `{"records": [{"name": "a", "name": "a"}]}`, /the field name .*record 0/],
  ['deep inside', `{"records": [{"name": [{"x": {"y": 1, "y": 2}}]}]}`, /the field y .*record 0/],
  ['__proto__', `{"records": [{"__proto__": 1, "__proto__": 2}]}`, /the field __proto__ .*record 0/],
])('a name that comes twice, %s, is a 400 that tells it', async (_, body, message) => {
  for (const path of ['/v1/data/shops', '/user-interactions']) {
    const answer = await post(path, body)
    expect([answer.status, answer.body.message]).toEqual([400, expect.stringMatching(message)])
  }
})

describe('text that is no Unicode, or holds a NUL', () => {
  it.each([
    ['a byte that never comes', [0xff]],
    ['a NUL written with two bytes', [0xc0, 0x80]],
    ['a surrogate written as UTF-8', [0xed, 0xa0, 0x80]],
    ['half a character', [0xe2, 0x82]],
    ['a character beyond the last', [0xf4, 0x90, 0x80, 0x80]],
  ])('%s is a 400, plain and gzipped', async (_, bytes) => {
    const [before = '', after = ''] = JSON.stringify({ records: [sampleOf(shop, { name: '#' })] }).split('#')
    const body = Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
    expect(await post('/v1/data/shops', body)).toMatchObject({
      status: 400,
      body: { message: 'the body is not valid UTF-8' },
    })
    const gzipped = await post('/v1/data/shops', gzipSync(body), { 'content-encoding': 'gzip' })
    expect([gzipped.status, gzipped.body.message]).toEqual([400, 'the body is not valid UTF-8'])
    expect((await post('/user-interactions', body)).status).toBe(400)
  })

  it.each([
    ['a lone surrogate', '\\ud800'],
    ['a pair the wrong way round', '\\udc00\\ud800'],
    ['a NUL', '\\u0000'],
  ])('%s is refused in every place, and the rejections hold it', async (_, text) => {
    const records = [
      `{"shop_id": "${randomUUID()}", "name": "a${text}", "region": "GB"}`,
      `{"shop_id": "${text}", "name": "a", "region": "GB"}`,
      `{"shop_id": "${randomUUID()}", "name": "a", "region": "${text}"}`,
      `{"shop_id": "${randomUUID()}", "name": "a", "region": "GB", "${text}": 1}`,
    ]
    const answer = await postRecords('shops', ...records, JSON.stringify(sampleOf(shop)))
    expect(answer.status).toBe(207)
    expect(problemsOf(answer)).toHaveLength(records.length)
    await eventually(async () => {
      const rows = await analyst.query<{ record: string }>(
        'select record from weir.rejections where org_id = {org:String} and request_id = {request:UUID}',
        { org: org.name, request: answer.body.request_id },
      )
      expect(rows.map(({ record }) => JSON.parse(record)).sort(byText)).toEqual(
        records.map((record) => JSON.parse(record)).sort(byText),
      )
    })

    const given = JSON.stringify(sampleOf(interaction, { user_id: '#' })).replace('#', text)
    const { status, body } = await post('/user-interactions', given)
    expect([status, body.problems]).toMatchObject([400, [{ field: 'user_id', code: 'bad_format' }]])
  })

  it('is refused in a query too', async () => {
    const { status, body } = await org.uploader.get<Refusal>('/user-interactions?user_id=a%00b')
    expect([status, body.problems]).toMatchObject([400, [{ field: 'user_id', code: 'bad_format' }]])
    expect((await org.uploader.get('/user-interactions?user_id=%ff%fe')).status).toBeLessThan(500)
    expect((await org.uploader.get('/v1/requests/%00')).status).toBe(404)
  })
})

// One type whose fields are of every kind of text; the validator's own tests have every field of every type.
it('100 kB in every field of a record are refused', async () => {
  const names = Object.keys(transaction.fields)
  for (const unit of ['0', 'a', '-', ' ', '2024-05-31T00:00:00.0']) {
    const text = unit.repeat(Math.ceil(100_000 / unit.length))
    const answer = await org.uploader.upload('transactions', [
      Object.fromEntries(names.map((name) => [name, text])),
      { [text]: text },
    ])
    expect(answer.status).toBe(400)
    expect(problemsOf(answer)[0]?.map(([field]) => field)).toEqual(names)
  }
})

describe('nesting', () => {
  const shapes: [string, (levels: number) => string][] = [
    ['arrays', (levels) => '['.repeat(levels) + ']'.repeat(levels)],
    ['objects', (levels) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`],
    ['arrays without an end', (levels) => '['.repeat(levels)],
    ['objects without an end', (levels) => '{"a":'.repeat(levels)],
  ]
  it.each([
    ...shapes.map(([name, shape]) => [name, 150_000, shape] as const),
    ...shapes.slice(0, 1).map(([name, shape]) => [name, 1_000_000, shape] as const),
  ])('of %s, %i deep, is a 400 wherever it is', async (_, levels, shape) => {
    const deep = shape(levels)
    for (const body of [deep, `{"records": ${deep}}`, `{"records": [${deep}]}`, `{"records": [{"name": ${deep}}]}`])
      expect((await post('/v1/data/shops', body)).status).toBe(400)
    // An interaction takes 64 KiB.
    expect((await post('/user-interactions', deep)).status).toBe(413)
    const fitting = shape(10_000)
    for (const body of [fitting, `{"user_id": ${fitting}}`, `{"${'x'.repeat(100)}": ${fitting}}`])
      expect((await post('/user-interactions', body)).status).toBe(400)
  })
})

describe('names from the prototype', () => {
  const others = ['prototype', 'constructor.prototype', 'toString', 'hasOwnProperty', 'valueOf']
  const names = ['__proto__', 'constructor', ...sized([], others)]

  it.each(names)('%s is no type', async (name) => {
    for (const path of [name, encodeURIComponent(name).replaceAll('_', '%5F'), `${name}/shops`])
      expect((await post(`/v1/data/${path}`, JSON.stringify({ records: [sampleOf(shop)] }))).status).toBe(404)
  })

  it.each(names)('%s is no field', async (name) => {
    const polluting = '{"name": "x", "region": "GB", "prototype": {"name": "x", "polluted": true}}'
    const incomplete = `{"shop_id": "${randomUUID()}", "${name}": ${polluting}}`
    const complete = JSON.stringify(sampleOf(shop)).replace('{', `{"${name}": ${polluting}, `)
    const answer = await postRecords('shops', incomplete, complete)
    expect(answer.status).toBe(400)
    expect(problemsOf(answer)).toEqual([
      [
        ['name', 'missing_field'],
        ['region', 'missing_field'],
        [name, 'unknown_field'],
      ],
      [[name, 'unknown_field']],
    ])
    const beside = await post(
      '/v1/data/shops',
      `{"records": [${JSON.stringify(sampleOf(shop))}], "${name}": ${polluting}}`,
    )
    expect(beside.status).toBe(400)
    expect((await post('/user-interactions', `{"${name}": ${polluting}}`)).status).toBe(400)

    // Nothing of it stayed behind.
    const later = await postRecords('shops', `{"shop_id": "${randomUUID()}"}`)
    expect(problemsOf(later)[0]?.map(([field]) => field)).toEqual(['name', 'region'])
  })

  it.each(names)('%s is no value of a choice and no query parameter', async (name) => {
    const chosen = sampleOf(interaction, { item_type: name, student_id: null })
    expect((await org.uploader.interact(chosen)).status).toBe(400)
    expect((await org.uploader.get(`/user-interactions?${name}=x`)).status).toBe(400)
  })
})

const byText = (a: unknown, b: unknown): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)
