import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { createKafka } from '#platform/kafka/kafka.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { createPool } from '#platform/postgres/postgres.js'
import { createRegistry } from '#platform/registry.js'
import { erasedSchema } from '#schemas/derive/avro.js'
import { customer } from '#schemas/records/customer.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { studentFavourite } from '#schemas/records/student-favourite.js'
import { transaction } from '#schemas/records/transaction.js'
import { eventually } from '../support/eventually.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { untilQuiet } from '../support/system/groups.js'
import { placesOf } from '../support/system/places-of.js'
import { kill } from '../support/system/processes.js'
import { analyst, newOrganisation, system } from '../support/system/system.js'
import { startReceiver } from '../support/webhook-receiver.js'

// A customer is forgotten, another one is taken out of what stays for sums, and a third one, whose records came in the same batches, keeps
// all of it. What test/services/persons, …/feeds and …/verify hold each by itself, on a whole system.

const log = pino({ level: 'silent' })
const pool = createPool(system.env.POSTGRES_URL, log, 2)
afterAll(() => pool.end())
const kafka = createKafka({ brokers: system.env.KAFKA_BROKERS, clientId: 'erasure-test', log })

const { name: org, uploader } = await newOrganisation('forget')
const required = { onlyRequired: true }
const personOf = (interactionsAs: string = randomUUID()) => ({ id: randomUUID(), user: interactionsAs })
const [ann, bob, cy, dee] = [personOf(), personOf(), personOf(), personOf()]
const people = [ann, bob, cy]

type Erasure = { erasure_id: string; status: string; problem: string | null; found: { where: string; count: number }[] }
type Event = { type: string; id: string; record: Record<string, unknown> }

const ask = async (body: Record<string, unknown>): Promise<Erasure> => {
  const answer = await uploader.send<Erasure>('POST', '/v1/erasures', JSON.stringify(body))
  expect(answer.status, JSON.stringify(answer.body)).toBe(202)
  return answer.body
}
const ended = ({ erasure_id }: Erasure): Promise<Erasure> =>
  eventually(async () => {
    const { body } = await uploader.get<Erasure>(`/v1/erasures/${erasure_id}`)
    expect(body).toMatchObject({ status: 'done', problem: null })
    return body
  }, 120_000)
const amounts = async (): Promise<[number, number]> => {
  const [row] = await analyst.query<{ count: string; amount: string }>(
    'select count() as count, sum(amount) as amount from weir.transactions where org_id = {org:String}',
    { org },
  )
  return [Number(row?.count), Number(row?.amount)]
}

/** What the command says as JSON. */
const weir = async (words: string[]): Promise<Record<string, unknown>> => {
  const { exitCode, stdout, stderr } = await runWeir(words, system.env)
  expect(exitCode, stderr).toBe(0)
  return JSON.parse(stdout)
}

/** An organisation that has something everywhere. */
const wholeOrganisation = async (): Promise<Awaited<ReturnType<typeof newOrganisation>>> => {
  const made = await newOrganisation('whole')
  const { uploader: own } = made
  const aShop = sampleOf(shop)
  const aCustomer = sampleOf(customer, { region: 'IE' }, required)
  await own.send('POST', '/v1/webhooks', JSON.stringify({ url: 'https://example.com/', events: ['records.accepted'] }))
  await own.upload('shops', [aShop, { ...sampleOf(shop), shop_id: 7 }])
  await own.upload('customers', [aCustomer])
  await own.upload('transactions?missing_references=wait', [
    sampleOf(transaction, { shop_id: aShop.shop_id, student_id: aCustomer.customer_id }, required),
    sampleOf(transaction, { shop_id: randomUUID(), student_id: aCustomer.customer_id }, required),
  ])
  const touch = { item_type: 'SHOP', item_id: aShop.shop_id, user_id: aCustomer.customer_id }
  expect((await own.interact(sampleOf(interaction, touch, required))).status).toBe(201)
  await untilQuiet(system.env.KAFKA_BROKERS)
  return made
}
const placesOfAll = [
  ...['weir.submitted.shops', 'weir.accepted.shops', 'weir.rejected', 'weir.verdicts', 'weir.waiting'],
  ...['weir.interactions', 'clickhouse shops_current', 'clickhouse rejections_log'],
  ...[
    'postgres integrity.entities',
    'postgres integrity.verdicts',
    'postgres integrity.waiting',
    'postgres auth.audit',
  ],
]
/** That there was such an organisation, and that it was deleted. */
const placesOfDeleted = [
  'postgres auth.organisations',
  ...['erasures', 'gates', 'persons'].map((table) => `postgres erasure.${table}`),
  'weir.erasures',
]

it('forgets a person everywhere, deletes an organisation, keeps all of others, and proves it', async () => {
  const receiver = await startReceiver()
  onTestFinished(receiver.close)
  const hook = { url: receiver.url, events: ['person.erased'] }
  expect((await uploader.send('POST', '/v1/webhooks', JSON.stringify(hook))).status).toBe(201)
  const { body: feed } = await uploader.get<{ next: string }>('/v1/feeds/transactions?after=now')
  const aShop = sampleOf(shop)
  await uploader.upload('shops', [aShop])
  await uploader.upload(
    'customers',
    people.map(({ id, user }) => sampleOf(customer, { customer_id: id, user_id: user, region: 'IE' }, required)),
  )
  const purchaseOf = ({ id }: { id: string }, shop_id: unknown = aShop.shop_id) =>
    sampleOf(transaction, { shop_id, student_id: id, region: 'IE', amount: 10, savings: 1 }, required)
  const bought = people.map((person) => purchaseOf(person))
  await uploader.upload('transactions', bought)
  for (const { id, user } of people) {
    await uploader.upload('student-favourites', [
      sampleOf(studentFavourite, { customer_id: id, shop_id: aShop.shop_id }, required),
    ])
    const touch = { item_type: 'SHOP', item_id: aShop.shop_id, user_id: user.toUpperCase() }
    expect((await uploader.interact(sampleOf(interaction, touch, required))).status).toBe(201)
    await uploader.upload('transactions', [{ ...purchaseOf({ id }), amount: -1 }])
  }
  const missing = sampleOf(shop)
  const waiting = people.map((person) => purchaseOf(person, missing.shop_id))
  await uploader.upload('transactions?missing_references=wait', waiting)
  // What cannot be decoded is set aside, in Base64 and without an organisation: there is something of a person in it all the same.
  const producer = await kafka.createProducer()
  onTestFinished(producer.close)
  const tear = async (key: string, value: Buffer): Promise<Buffer> => {
    await producer.send('weir.submitted.customers', 0, [{ key: `${key}/${randomUUID()}`, value }])
    await eventually(async () => expect(await setAside(value)).toEqual([1, 1]))
    return value
  }
  const setAside = async (torn: Buffer): Promise<[rows: number, messages: number]> => {
    const record = torn.toString('base64')
    const rows = await analyst.query('select 1 from weir.rejections where record = {record:String}', { record })
    let count = 0
    await readTopics(kafka, await stretchesOf(kafka, ['weir.rejected']), async ({ messages }) => {
      count += messages.filter(({ value }) => value?.includes(record)).length
    })
    return [rows.length, count]
  }
  const torn = await tear(org, Buffer.from(`no Avro, but ${ann.id}`))
  await eventually(async () => expect(await amounts()).toEqual([3, 30]))
  await untilQuiet(system.env.KAFKA_BROKERS)

  const dry = await ended(await ask({ person_id: ann.id, mode: 'erase', dry_run: true }))
  const before = await placesOf(system.env, org, [ann.id, ann.user])
  expect(before).toEqual(
    expect.arrayContaining([
      'weir.submitted.customers',
      'weir.accepted.customers',
      'weir.rejected',
      'weir.interactions',
    ]),
  )
  expect(dry.found.map(({ where }) => where)).toEqual(
    expect.arrayContaining(['weir.interactions', 'weir.customers_log', 'integrity.entities.id']),
  )

  // Users without a customer, whose ids are any text: the other one is somebody else.
  const [named, alike] = ['ÉMILE Ü/1', 'émile ü/1']
  for (const user_id of [named, alike]) {
    const touch = { item_type: 'SHOP', item_id: aShop.shop_id, user_id }
    expect((await uploader.interact(sampleOf(interaction, touch, required))).status).toBe(201)
  }

  // At the same time an organisation is deleted, with all that it has.
  const whole = await wholeOrganisation()
  await eventually(async () =>
    expect(await placesOf(system.env, whole.name, [whole.name])).toEqual(expect.arrayContaining(placesOfAll)),
  )
  const nameAsAvro = Buffer.concat([Buffer.of(2 * whole.name.length), Buffer.from(whole.name)])
  const tornOfWhole = await tear(whole.name, Buffer.concat([Buffer.from('no Avro, but '), nameAsAvro]))
  const tornOfOther = await tear('other', Buffer.from('no Avro, and of nobody'))
  const deleted = await weir(['orgs', 'delete', whole.name, '--yes', '--json'])
  expect((await whole.uploader.upload('shops', [sampleOf(shop)])).status).toBe(401)
  // Somebody who came a moment ago: no table tells yet which user that customer is.
  kill('sink', 'SIGSTOP')
  await uploader.upload('customers', [sampleOf(customer, { customer_id: dee.id, user_id: dee.user }, required)])
  const touch = { item_type: 'SHOP', item_id: aShop.shop_id, user_id: dee.user }
  expect((await uploader.interact(sampleOf(interaction, touch, required))).status).toBe(201)
  const early = await ask({ person_id: dee.id, mode: 'erase' })

  const asked = await ask({ person_id: ann.id, mode: 'erase' })
  // Asked again, it is the same; and a second one, at the same time, for whom sums are to stay.
  expect((await ask({ person_id: ann.id, mode: 'erase' })).erasure_id).toBe(asked.erasure_id)
  const other = await ask({ person_id: cy.user, mode: 'pseudonymise' })
  const byText = await ask({ person_id: named, mode: 'erase' })
  await eventually(async () =>
    expect((await uploader.get(`/v1/erasures/${early.erasure_id}`)).body).toMatchObject({ step: 'who it is' }),
  )
  kill('sink', 'SIGCONT')
  // Meanwhile others upload.
  await uploader.upload('transactions', [purchaseOf(bob)])
  await ended(asked)
  await ended(other)
  await ended(byText)
  await eventually(async () => {
    const { rows } = await pool.query('select status, problem from erasure.erasures where erasure_id = $1', [
      deleted.erasure_id,
    ])
    expect(rows).toEqual([{ status: 'done', problem: null }])
  }, 120_000)
  const deletion = await weir(['erasures', 'show', String(deleted.erasure_id), '--json'])
  expect(deletion).toMatchObject({ status: 'done', mode: 'organisation' })
  expect(await placesOf(system.env, whole.name, [whole.name])).toEqual(placesOfDeleted)
  expect((deletion.found as { where: string }[]).map(({ where }) => where)).toEqual(
    expect.arrayContaining(['weir.accepted.shops', 'weir.verdicts', 'weir.shops_current', 'delivery.webhooks']),
  )
  expect([await setAside(tornOfWhole), await setAside(tornOfOther)]).toEqual([
    [0, 0],
    [1, 1],
  ])
  const reused = await runWeir(['orgs', 'create', whole.name], system.env)
  expect([reused.exitCode, reused.stderr]).toEqual([1, expect.stringContaining('its id is not given again')])
  await ended(early)

  expect(
    await placesOf(
      system.env,
      org,
      [ann, cy, dee].flatMap(({ id, user }) => [id, user]),
    ),
  ).toEqual([])
  const holding = async (text: string): Promise<string[]> => {
    const found = new Set<string>()
    const topics = ['weir.interactions', 'weir.submitted.interactions', 'weir.verdicts', 'weir.rejected']
    await readTopics(kafka, await stretchesOf(kafka, topics), async ({ topic, messages }) => {
      for (const { value } of messages) if (value?.includes(text)) found.add(topic)
    })
    return [...found]
  }
  expect([await holding(named), await holding(alike)]).toEqual([[], expect.arrayContaining(['weir.interactions'])])
  const touches =
    'select user_id from weir.interactions where org_id = {org:String} and user_id in {users:Array(String)}'
  expect(await analyst.query(touches, { org, users: [named, alike] })).toEqual([{ user_id: alike }])
  expect(await setAside(torn)).toEqual([0, 0])
  expect((await uploader.get(`/v1/persons/${ann.id}/export`)).status).toBe(404)
  // What stays for sums: all but hers.
  await eventually(async () => expect(await amounts()).toEqual([3, 30]))

  // Of others nothing is lost: not from the topics, not from what waits, not for who reads the feed on from before.
  const { body: kept } = await uploader.get<Record<'records' | 'refused' | 'waiting', unknown[]>>(
    `/v1/persons/${bob.id}/export`,
  )
  expect([kept.records.length, kept.refused.length, kept.waiting.length]).toEqual([5, 1, 1])
  await uploader.upload('shops', [missing])
  await eventually(async () => expect(await amounts()).toEqual([4, 40]))
  const events = await eventually(async () => {
    const page = await uploader.get<{ events: Event[] }>(`/v1/feeds/transactions?after=${feed.next}&limit=100`)
    expect(page.body).toMatchObject({ events: { length: 4 } })
    return page.body.events
  })
  expect(events.map(({ record }) => record.student_id ?? null).sort()).toEqual([bob.id, bob.id, bob.id, null].sort())
  expect(events.map(({ id }) => id)).toEqual(
    expect.arrayContaining([bought[1]?.transaction_id, bought[2]?.transaction_id]),
  )

  // Others are told, once, by what tells nobody but them who it was.
  const told = await eventually(() => {
    const all = receiver.taken('person.erased').map(({ data }) => data as { erasure_id: string; mode: string } & Hidden)
    expect(all.map(({ erasure_id }) => erasure_id).sort()).toEqual(
      [asked, other, byText, early].map(({ erasure_id }) => erasure_id).sort(),
    )
    return all.find(({ erasure_id }) => erasure_id === asked.erasure_id) as (typeof all)[number]
  })
  type Hidden = { salt: string; ids_sha256: string[] }
  const isMeant = (id: string, { salt, ids_sha256 }: Hidden) =>
    ids_sha256.includes(createHash('sha256').update(Buffer.from(salt, 'hex')).update(id).digest('hex'))
  expect([ann.id, ann.user, bob.id, cy.id].map((id) => isMeant(id, told))).toEqual([true, true, false, false])
  const registry = createRegistry(system.env.SCHEMA_REGISTRY_URL)
  const decode = registry.decoder<Hidden>(erasedSchema())
  const onTopic = new Map<string, Hidden>()
  await readTopics(kafka, await stretchesOf(kafka, ['weir.erasures']), async ({ messages }) => {
    for (const { key, value } of messages) onTopic.set(String(key), await decode(value))
  })
  const published = onTopic.get(`${org}/${asked.erasure_id}`) as Hidden
  expect([ann.id, ann.user, bob.id].map((id) => isMeant(id, published))).toEqual([true, true, false])

  // The proof is checked with what it comes with, and names nobody.
  const { rows } = await pool.query<{ report: string; signature: string; public_key: string; all: string }>(
    `select report, signature, public_key, e::text as all from erasure.erasures e, erasure.signing_key where erasure_id = $1`,
    [asked.erasure_id],
  )
  const proof = rows[0] as (typeof rows)[number]
  const isSigned = (report: string) =>
    verify(null, Buffer.from(report), createPublicKey(proof.public_key), Buffer.from(proof.signature, 'base64'))
  expect([isSigned(proof.report), isSigned(proof.report.replace('"left":[]', '"left":[1]'))]).toEqual([true, false])
  expect(JSON.parse(proof.report)).toMatchObject({ organisation: org, mode: 'erase', left: [] })

  // Sent again, it is refused, and nothing of it gets into the log.
  const back = { ...sampleOf(customer, { customer_id: ann.id, user_id: ann.user, region: 'IE' }, required) }
  const again = await uploader.upload('customers', [back, sampleOf(customer, { region: 'IE' }, required)])
  expect(again.body.batches[0]?.data.errors).toMatchObject([
    { index: 0, id: null, problems: [{ code: 'person_erased' }] },
  ])
  await uploader.upload('customers', [{ ...back, region: 7 }])
  expect((await uploader.interact(sampleOf(interaction, { user_id: ann.user }, required))).status).toBe(400)
  await untilQuiet(system.env.KAFKA_BROKERS)
  expect(await placesOf(system.env, org, [ann.id, ann.user])).toEqual([])
  const { exitCode, stdout } = await runWeir(['verify', '--org', org, '--since', '1h', '--json'], system.env)
  expect([exitCode, JSON.parse(stdout).differences]).toEqual([0, []])
}, 600_000)
