import { randomUUID } from 'node:crypto'
import { execa } from 'execa'
import { Kafka, logLevel } from 'kafkajs'
import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { createPool } from '#platform/postgres/postgres.js'
import { interaction } from '#schemas/records/interaction.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { untilQuiet } from '../support/system/groups.js'
import { kill } from '../support/system/processes.js'
import { analyst, newOrganisation, type Organisation, system } from '../support/system/system.js'

type Listed = {
  total: number
  by_code: Record<string, number>
  rejections: {
    id: string
    request_id: string
    batch_id: string
    index: number
    codes: string[]
    retried: { outcome: string | null; request_id: string } | null
  }[]
}
type Retried = {
  accepted: number
  refused: number
  superseded: number
  cannot_be_retried: number
  already_retried: number
  resumed: number
}

const pool = createPool(system.env.POSTGRES_URL, pino({ level: 'silent' }), 2)
afterAll(() => pool.end())

const weir = (...words: string[]) => runWeir(words, { ...system.env, EDGE_URL: system.edgeUrl })
/** In a process of its own, to be killed or stopped. */
const startRetry = (org: Organisation, ...words: string[]) =>
  execa(
    process.execPath,
    ['dist/services/operator/main.js', 'rejected', 'retry', '--org', org.name, '--all', ...words],
    {
      env: { ...system.env, EDGE_URL: system.edgeUrl },
      reject: false,
    },
  )
const answerOf = async <T>(...words: string[]): Promise<T & { exitCode: number | undefined }> => {
  const { stdout, stderr, exitCode } = await weir(...words, '--json')
  expect(stdout, stderr).not.toBe('')
  return { ...(JSON.parse(stdout) as T), exitCode }
}
const retry = (org: Organisation, ...words: string[]) =>
  answerOf<Retried>('rejected', 'retry', '--org', org.name, ...words)

/** What `weir rejected list` says once all of an organisation's rejections are in ClickHouse: the sink is a moment behind. */
const listed = async (org: Organisation, total: number) => {
  await eventually(async () => {
    const rows = await analyst.query('select 1 from weir.rejections where org_id = {org:String}', { org: org.name })
    expect(rows).toHaveLength(total)
  })
  const found = await answerOf<Listed>('rejected', 'list', '--org', org.name)
  expect(found.total).toBe(total)
  return found
}

const offersOf = (org: Organisation) =>
  analyst.query<{ id: string; name: string; versions: number }>(
    `select toString(offer_id) as id, argMax(name, version) as name, toUInt32(uniqExact(version)) as versions
    from weir.offers_log where org_id = {org:String} group by id order by id`,
    { org: org.name },
  )
const offerOf = (shopId: unknown, over = {}) => sampleOf(offer, { shop_id: shopId, is_deleted: false, ...over })

/** An organisation with refused offers of a shop that was uploaded too late. */
const withRefusedOffers = async (stem: string, count: number) => {
  const org = await newOrganisation(stem)
  const later = sampleOf(shop, { is_deleted: false })
  const offers = Array.from({ length: count }, () => offerOf(later.shop_id))
  expect((await org.uploader.upload('offers', offers)).status).toBe(400)
  await listed(org, count)
  expect((await org.uploader.upload('shops', [later])).status).toBe(200)
  return { org, offers, shopId: later.shop_id }
}
const idsOf = (records: Record<string, unknown>[]) => records.map(({ offer_id }) => String(offer_id)).sort()

it('shows refused records, and submits them again once their reason is gone, each once', async () => {
  const org = await newOrganisation('rejected')
  const late = sampleOf(shop, { is_deleted: false })
  const offers = [offerOf(late.shop_id), offerOf(late.shop_id)]
  const { body } = await org.uploader.upload('offers', [...offers, offerOf(late.shop_id, { value: -1 })])

  const first = await listed(org, 3)
  expect(first.by_code).toEqual({ unknown_reference: 2, out_of_range: 1 })
  expect(first.rejections.map(({ retried }) => retried)).toEqual([null, null, null])
  const shown = await weir('rejected', 'show', body.request_id, '--index', '2')
  expect(shown.stdout).toContain('out_of_range in value: value must be above 0')
  expect(shown.stdout).toContain('"value": -1')

  // Too early: refused again, each as a new rejection, and the old one is done with.
  expect(await retry(org, '--code', 'unknown_reference')).toMatchObject({ accepted: 0, refused: 2, exitCode: 2 })
  const second = await listed(org, 5)
  expect(second.rejections.map(({ retried }) => retried?.outcome ?? null).sort()).toEqual([
    null,
    null,
    null,
    'refused',
    'refused',
  ])

  await org.uploader.upload('shops', [late])
  const third = await retry(org, '--code', 'unknown_reference')
  expect(third).toMatchObject({ accepted: 2, refused: 0, already_retried: 2, exitCode: 0 })
  await eventually(async () => expect((await offersOf(org)).map(({ id }) => id)).toEqual(idsOf(offers)))

  const again = await retry(org, '--code', 'unknown_reference')
  expect(again).toMatchObject({ accepted: 0, refused: 0, superseded: 0, already_retried: 4, exitCode: 0 })
  await untilQuiet(system.env.KAFKA_BROKERS)
  expect((await offersOf(org)).map(({ versions }) => versions)).toEqual([1, 1])

  // It needs no key of the organisation: the one that there is was there before.
  const { rows } = await pool.query('select scopes from auth.api_keys where org_id = $1', [org.name])
  expect(rows).toEqual([{ scopes: null }])
})

itDeep('does not turn the clock back: what was overtaken is left out, unless it is wanted', async () => {
  const { org, offers, shopId } = await withRefusedOffers('overtaken', 3)
  const [overtaken, deleted, plain] = offers
  const newer = [
    { ...overtaken, name: 'newer', shop_id: shopId },
    { ...deleted, name: 'newer', is_deleted: true },
  ]
  expect((await org.uploader.upload('offers', newer)).status).toBe(200)
  await eventually(async () => expect(await offersOf(org)).toHaveLength(2))

  expect(await retry(org, '--since', '1h')).toMatchObject({ accepted: 1, superseded: 2, exitCode: 0 })
  await eventually(async () => expect(await offersOf(org)).toHaveLength(3))
  for (const { id, name } of await offersOf(org)) expect(name === 'newer').toBe(id !== plain?.offer_id)

  expect(await retry(org, '--all', '--even-superseded')).toMatchObject({ accepted: 2, already_retried: 1 })
  await eventually(async () => {
    const found = await offersOf(org)
    expect(found.map(({ name }) => name)).not.toContain('newer')
  })
})

it('submits refused interactions one by one', async () => {
  const org = await newOrganisation('late-looks')
  const late = sampleOf(shop)
  const look = () => sampleOf(interaction, { item_type: 'SHOP', item_id: late.shop_id, student_id: null })
  for (const given of [look(), look()]) expect((await org.uploader.interact(given)).status).toBe(400)
  await listed(org, 2)
  await org.uploader.upload('shops', [late])
  expect(await retry(org, '--type', 'interactions')).toMatchObject({ accepted: 2, refused: 0 })
  expect(await retry(org, '--type', 'interactions')).toMatchObject({ accepted: 0, already_retried: 2 })
  await eventually(async () => {
    const rows = await analyst.query('select 1 from weir.interactions where org_id = {org:String}', { org: org.name })
    expect(rows).toHaveLength(2)
  })
})

const verdictsOf = async (org: Organisation) => {
  const { rows } = await pool.query(
    `select accepted from integrity.verdicts where org_id = $1 and type = 'offers' and accepted > 0`,
    [org.name],
  )
  return rows
}
const unanswered = async (org: Organisation) => {
  const { rows } = await pool.query('select retry_id from integrity.retries where org_id = $1 and outcome is null', [
    org.name,
  ])
  return rows as { retry_id: string }[]
}

/** Begins a run that finds so much of an earlier one under way, once Postgres notices that a dead run's connection is gone. */
const resuming = (org: Organisation, count: number) =>
  eventually(async () => {
    const next = startRetry(org, '--json')
    let said = ''
    const hasFound = new Promise((resolve) => {
      next.stderr.on('data', (text) => {
        said += text
        if (said.includes(`of these, ${count} finish an earlier run`)) resolve(true)
      })
      void next.then(() => resolve(false))
    })
    expect(await hasFound, said).toBe(true)
    return { next }
  }, 60_000)

itDeep(
  'is finished by the edge and told by the next run when it is killed in the middle, and one beside it is refused',
  async () => {
    const { org, offers } = await withRefusedOffers('killed', 5)
    kill('integrity', 'SIGSTOP')
    let finishing: Awaited<ReturnType<typeof resuming>>
    try {
      const killed = startRetry(org)
      await eventually(async () => expect(await unanswered(org)).toHaveLength(5))
      const beside = await weir('rejected', 'retry', '--org', org.name, '--all')
      expect([beside.exitCode, beside.stderr]).toEqual([
        1,
        expect.stringContaining('another "npm run -s weir -- rejected retry" is running'),
      ])
      expect(await weir('rejected', 'list', '--org', org.name)).toMatchObject({
        stdout: expect.stringContaining('unfinished'),
      })
      killed.kill('SIGKILL')
      await killed
      expect(await unanswered(org)).toHaveLength(5)
      finishing = await resuming(org, 5)
    } finally {
      kill('integrity', 'SIGCONT')
    }
    const { stdout, exitCode } = await finishing.next
    expect({ ...JSON.parse(stdout), exitCode }).toMatchObject({ accepted: 5, refused: 0, resumed: 5, exitCode: 0 })
    expect(await unanswered(org)).toEqual([])
    expect(await verdictsOf(org)).toEqual([{ accepted: 5 }])
    await eventually(async () => expect((await offersOf(org)).map(({ id }) => id)).toEqual(idsOf(offers)))
    await untilQuiet(system.env.KAFKA_BROKERS)
    expect((await offersOf(org)).map(({ versions }) => versions)).toEqual([1, 1, 1, 1, 1])
  },
)

itDeep('gives up what a killed run had only claimed, where a record of it was overtaken since', async () => {
  const { org, offers } = await withRefusedOffers('claimed', 2)
  const { rejections } = await listed(org, 2)
  for (const [place, { batch_id, index }] of rejections.entries()) {
    await pool.query(
      `insert into integrity.retries (batch_id, index, org_id, type, rejected_at, retry_id, place)
      select batch_id, $2, org_id, type, decided_at, $3, $4 from integrity.verdicts where batch_id = $1`,
      [batch_id, index, rejections[0]?.batch_id, place],
    )
  }
  expect((await org.uploader.upload('offers', [{ ...offers[0], name: 'newer' }])).status).toBe(200)
  await eventually(async () => expect(await offersOf(org)).toHaveLength(1))

  expect(await retry(org, '--all')).toMatchObject({ accepted: 1, superseded: 1, resumed: 0 })
  await eventually(async () => expect(await offersOf(org)).toHaveLength(2))
  const names = Object.fromEntries((await offersOf(org)).map(({ id, name }) => [id, name]))
  expect(names[String(offers[0]?.offer_id)]).toBe('newer')
})

itDeep('says how it goes on when it is stopped with Ctrl-C, and the edge finishes what was ordered', async () => {
  const { org } = await withRefusedOffers('stopped', 1)
  kill('integrity', 'SIGSTOP')
  let finishing: Awaited<ReturnType<typeof resuming>>
  try {
    const stopped = startRetry(org)
    await eventually(async () => expect(await unanswered(org)).toHaveLength(1))
    stopped.kill('SIGINT')
    const { exitCode, stderr } = await stopped
    expect([exitCode, stderr]).toEqual([
      130,
      expect.stringContaining('finished by the next "npm run -s weir -- rejected retry"'),
    ])
    finishing = await resuming(org, 1)
  } finally {
    kill('integrity', 'SIGCONT')
  }
  expect(JSON.parse((await finishing.next).stdout)).toMatchObject({ accepted: 1, resumed: 1 })
  // Without another run too: once it is ordered, it is the edge's work.
  const { org: alone } = await withRefusedOffers('stopped-alone', 1)
  kill('integrity', 'SIGSTOP')
  try {
    const stopped = startRetry(alone)
    await eventually(async () => expect(await unanswered(alone)).toHaveLength(1))
    stopped.kill('SIGINT')
    await stopped
  } finally {
    kill('integrity', 'SIGCONT')
  }
  await eventually(async () => expect(await unanswered(alone)).toEqual([]), 60_000)
  expect(await retry(alone, '--all')).toMatchObject({ accepted: 0, resumed: 0, already_retried: 1 })
})

it('shows the bytes of a message that could not be decoded, and says that it cannot be retried', async () => {
  const kafka = new Kafka({ brokers: system.env.KAFKA_BROKERS.split(','), logLevel: logLevel.NOTHING })
  const stranger = kafka.producer()
  await stranger.connect()
  const text = `no Avro ${randomUUID()}`
  const [sent] = await stranger.send({ topic: 'weir.submitted.tags', messages: [{ key: 'x', value: text }] })
  await stranger.disconnect()
  const place = `weir.submitted.tags/${sent?.partition}/${sent?.baseOffset}`

  const found = await eventually(async () => {
    const { rejections } = await answerOf<Listed>('rejected', 'list', '--code', 'undecodable', '--limit', '500')
    const one = rejections.find(({ id }) => id === place)
    expect(one).toBeDefined()
    return one
  })
  const { stdout } = await weir('rejected', 'show', String(found?.batch_id))
  expect(stdout).toContain(place)
  expect(stdout).toContain(text)
  const summary = await answerOf<Retried>('rejected', 'retry', '--request', String(found?.batch_id))
  expect(summary).toMatchObject({ accepted: 0, refused: 0, cannot_be_retried: 1, exitCode: 0 })
})

it('says in one line what is missing, and sends nothing', async () => {
  const said = async (...words: string[]) => {
    const { exitCode, stderr } = await weir('rejected', ...words)
    return [exitCode, stderr.split('\n').at(-1)]
  }
  expect(await said('retry')).toEqual([1, 'weir: say which: --request, --code, --since or --all'])
  expect(await said('show', randomUUID())).toEqual([1, expect.stringContaining('was refused')])
  expect(await said('list', '--type', 'offer')).toEqual([1, expect.stringContaining('did you mean offers?')])

  const { org } = await withRefusedOffers('no-edge', 1)
  const { exitCode, stderr } = await runWeir(['rejected', 'retry', '--org', org.name], {
    ...system.env,
    EDGE_URL: 'http://127.0.0.1:1',
  })
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('the edge does not answer at http://127.0.0.1:1')])
  expect(await unanswered(org)).toEqual([])
  expect(await retry(org, '--dry-run')).toMatchObject({ would_send: 1, dry_run: true })
})

it('prunes on demand what is older than it is told, and says beforehand how much', async () => {
  // Younger than what the services themselves prune.
  const org = await newOrganisation('pruned')
  await org.uploader.upload('shops', [sampleOf(shop)])
  await pool.query(`update integrity.verdicts set decided_at = decided_at - interval '20 days' where org_id = $1`, [
    org.name,
  ])
  const verdicts = () => pool.query('select 1 from integrity.verdicts where org_id = $1', [org.name])

  type Pruned = { verdicts: number; dry_run: boolean }
  // The group's offset is committed a moment after the answer.
  const before = await eventually(async () => {
    const found = await answerOf<Pruned>('prune', '--verdicts', '10d', '--dry-run')
    expect(found.verdicts).toBeGreaterThan(0)
    return found
  })
  expect(before.dry_run).toBe(true)
  expect((await verdicts()).rowCount).toBe(1)
  expect(await answerOf<Pruned>('prune', '--verdicts', '10d')).toMatchObject({ verdicts: 1, dry_run: false })
  expect((await verdicts()).rowCount).toBe(0)
  // Only the verdict was made older, not its batch: integrity, which compares the last batch with its verdict whenever it gets the
  // partition anew, would take that for a log that was cut. With another batch behind it, it is the last one no longer.
  expect((await org.uploader.upload('shops', [sampleOf(shop)])).status).toBe(200)
  const { exitCode, stderr } = await weir('prune', '--verdicts', '1h')
  expect([exitCode, stderr]).toEqual([1, 'weir: --verdicts 1h: what is younger than 24h is always kept'])
})
