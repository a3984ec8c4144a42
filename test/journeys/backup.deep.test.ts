import { randomUUID } from 'node:crypto'
import { cpSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { interaction } from '#schemas/records/interaction.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { pidIn, signalTree } from '../support/process-tree.js'
import { runWeir } from '../support/run-weir.js'
import { sampleOf } from '../support/sample.js'
import { keepInteracting, keepUploading } from '../support/system/keep-uploading.js'
import { readyzOf } from '../support/system/readiness.js'
import { createUploader, type Uploader } from '../support/system/uploader.js'
import { startWholeSystem, type WholeSystem } from '../support/system/whole-system.js'

const home = await mkdtemp(join(tmpdir(), 'weir-backups-'))
afterAll(() => rm(home, { recursive: true, force: true }))
const [first, second, folder] = ['first', 'second', 'backup'].map((name) => join(home, name)) as [
  string,
  string,
  string,
]

const weir = (dataDir: string, ...words: string[]) =>
  execa(process.execPath, ['deploy/embedded/weir.mjs', ...words], { env: { DATA_DIR: dataDir }, reject: false })

const start = async (dataDir: string) => {
  const { system, stop } = await startWholeSystem({ dataDir })
  let isStopped = false
  const stopOnce = async () => {
    if (!isStopped) await stop()
    isStopped = true
  }
  onTestFinished(stopOnce)
  return { system, stop: stopOnce }
}

const operate = async <T>(system: WholeSystem, ...words: string[]): Promise<T> => {
  const { stdout, stderr, exitCode } = await runWeir([...words, '--json'], system.env)
  expect(exitCode, `weir ${words.join(' ')}: ${stdout}${stderr}`).toBe(0)
  return JSON.parse(stdout) as T
}

const idsIn = async (system: WholeSystem, view: string, column: string): Promise<string[]> => {
  const analyst = createClickHouse(system.env.CLICKHOUSE_URL)
  try {
    const rows = await analyst.query<{ id: string }>(
      `select toString(${column}) as id from weir.${view} where org_id = 'acme' order by id`,
    )
    return rows.map(({ id }) => id)
  } finally {
    await analyst.close()
  }
}

const waitingOffer = (shopId: string) => sampleOf(offer, { shop_id: shopId, is_deleted: false })
const sendToWait = async (uploader: Uploader, record: unknown) => {
  const { body } = await uploader.send<{ batches: { data: { waiting: unknown[] } }[] }>(
    'POST',
    '/v1/data/offers?missing_references=wait',
    JSON.stringify({ records: [record] }),
  )
  expect(body.batches[0]?.data.waiting).toHaveLength(1)
}

it('is backed up under load and restored elsewhere, with all that was acknowledged before, each record once', async () => {
  const one = await start(first)
  const { key } = await operate<{ key: string }>(one.system, 'keys', 'issue', '--org', 'acme')
  const uploader = createUploader(one.system.edgeUrl, key)
  const known = sampleOf(shop, { is_deleted: false })
  expect((await uploader.upload('shops', [known])).status).toBe(200)
  const lateShop = randomUUID()
  const waits = waitingOffer(lateShop)
  await sendToWait(uploader, waits)

  const clients = [keepUploading(uploader), keepUploading(uploader), keepInteracting(String(known.shop_id), uploader)]
  const [shops, , interactions] = clients as [(typeof clients)[0], (typeof clients)[0], (typeof clients)[0]]
  await eventually(() => {
    for (const { acknowledged } of clients) expect(acknowledged.length).toBeGreaterThan(20)
  }, 60_000)
  const before = {
    shops: [String(known.shop_id), ...clients.slice(0, 2).flatMap(({ acknowledged }) => acknowledged)],
    interactions: [...interactions.acknowledged],
  }
  const { stdout, stderr, exitCode } = await weir(first, 'backup', folder, '--json')
  expect(exitCode, stderr).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ folder, files: expect.any(Number), paused_ms: expect.any(Number) })
  // What is taken afterwards is not in it.
  const count = shops.acknowledged.length
  await eventually(() => expect(shops.acknowledged.length).toBeGreaterThan(count + 100), 60_000)
  await Promise.all(clients.map(({ stop }) => stop()))
  expect(clients.flatMap(({ failures }) => failures)).toEqual([])
  const after = String(sampleOf(shop).shop_id)
  expect((await uploader.upload('shops', [sampleOf(shop, { shop_id: after, is_deleted: false })])).status).toBe(200)
  expect((await weir(first, 'backup', folder)).stderr).toContain('is not empty')
  expect((await weir(first, 'restore', folder, '--aside')).stderr).toContain('Weir already runs with the data folder')
  const acknowledged = clients.slice(0, 2).flatMap((client) => client.acknowledged)
  expect(await operate(one.system, 'verify')).toMatchObject({ is_clean: true })
  await one.stop()

  expect((await weir(second, 'restore', folder)).exitCode).toBe(0)
  const two = await start(second)
  const restored = createUploader(two.system.edgeUrl, key)
  await eventually(async () => expect(await operate(two.system, 'verify')).toMatchObject({ is_clean: true }), 60_000)
  const there = await idsIn(two.system, 'shops', 'shop_id')
  expect(there).toEqual([...new Set(there)])
  expect(there).toEqual(expect.arrayContaining(before.shops))
  expect([String(known.shop_id), ...acknowledged]).toEqual(expect.arrayContaining(there))
  expect(there).not.toContain(after)
  const interacted = await idsIn(two.system, 'interactions', 'interaction_id')
  expect(interacted).toEqual([...new Set(interacted)])
  expect(interacted).toEqual(expect.arrayContaining(before.interactions))
  // It goes on: a key, what it refers to, what waited.
  const next = await restored.upload('offers', [waitingOffer(String(known.shop_id))])
  expect(next.status).toBe(200)
  await restored.upload('shops', [sampleOf(shop, { shop_id: lateShop, is_deleted: false })])
  await eventually(async () => expect(await idsIn(two.system, 'offers', 'offer_id')).toContain(waits.offer_id))
  const given = sampleOf(interaction, { item_type: 'SHOP', item_id: known.shop_id, student_id: null })
  expect((await restored.interact(given)).status).toBe(201)
  await two.stop()
}, 900_000)

const replacePart = (dataDir: string, part: string) => {
  rmSync(join(dataDir, part), { recursive: true })
  cpSync(join(folder, 'data', part), join(dataDir, part), { recursive: true, verbatimSymlinks: true })
}

it('goes on, as the runbook says, with a ClickHouse or a Postgres that is older than the rest', async () => {
  // The first system has taken more since the backup.
  replacePart(first, 'clickhouse')
  const one = await start(first)
  const rows = await idsIn(one.system, 'shops', 'shop_id')
  const { stdout, exitCode } = await runWeir(['verify', '--json'], one.system.env)
  expect(exitCode).toBe(1)
  expect(JSON.parse(stdout).differences.map(({ kind }: { kind: string }) => kind)).toContain('row_missing')
  await operate(one.system, 'rebuild', 'analytics')
  expect(await operate(one.system, 'verify')).toMatchObject({ is_clean: true })
  const all = await idsIn(one.system, 'shops', 'shop_id')
  expect(all.length).toBeGreaterThan(rows.length)
  await one.stop()

  // The system comes up though integrity decides nothing, and what an operator has to do can be done.
  replacePart(first, 'postgres')
  const two = await start(first)
  await eventually(async () => {
    const { parts } = await readyzOf(`http://127.0.0.1:${two.system.env.INTEGRITY_PORT}`)
    expect(parts.memory).toMatchObject({ ok: false, problem: expect.stringContaining('went back') })
  }, 30_000)
  const integrity = pidIn(first, 'integrity')
  signalTree(integrity, 'SIGSTOP')
  onTestFinished(() => void signalTree(integrity, 'SIGCONT'))
  await operate(two.system, 'rebuild', 'index')
  const losses = await eventually(
    () => operate<{ losses: { by: string }[] }>(two.system, 'accept-loss', '--yes'),
    60_000,
  )
  expect(new Set(losses.losses.map(({ by }) => by))).toEqual(new Set(['Postgres']))
  signalTree(integrity, 'SIGCONT')
  await eventually(async () => {
    const verified = await operate<{ is_clean: boolean; types: { waiting: number }[] }>(two.system, 'verify')
    expect(verified.is_clean).toBe(true)
    expect(verified.types.filter(({ waiting }) => waiting > 0)).toEqual([])
  }, 60_000)
  expect(await idsIn(two.system, 'shops', 'shop_id')).toEqual(all)
  await two.stop()
}, 900_000)
