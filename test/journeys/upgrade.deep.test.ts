import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { execa } from 'execa'
import { expect, it, onTestFinished } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { freePorts } from '../../deploy/embedded/servers/ports.js'
import { eventually } from '../support/eventually.js'
import { buildWith, thisBuild } from '../support/newer-build.js'
import { startParts } from '../support/stack.js'
import type { ServiceName } from '../support/system/another-service.js'
import { readyzOf } from '../support/system/readiness.js'
import { createUploader, type Uploader } from '../support/system/uploader.js'

// A client soon hears that the outcome is unknown, and sends the same again.
const verdictTimeout = '2000'

it('is upgraded under load, in the documented order and in the wrong one, and loses no value', async () => {
  const parts = await startParts()
  onTestFinished(parts.stop)
  const { env } = parts
  const analyst = createClickHouse(env.CLICKHOUSE_URL)
  onTestFinished(() => analyst.close())

  const operate = (build: string, ...words: string[]) =>
    execa(process.execPath, [join(build, 'dist/services/operator/main.js'), ...words], { env, cwd: build })
  const start = async (build: string, name: ServiceName) => {
    const [port = 0] = await freePorts(1)
    const main = join(build, `dist/services/${name}/main.js`)
    const service = execa(process.execPath, [main], {
      env: { ...env, [`${name.toUpperCase()}_PORT`]: String(port), VERDICT_TIMEOUT_MS: verdictTimeout },
      cwd: build,
      stdio: 'ignore',
      reject: false,
    })
    const stop = async () => {
      service.kill('SIGTERM')
      await service
    }
    onTestFinished(stop)
    const url = `http://127.0.0.1:${port}`
    const isReady = () => eventually(async () => expect(await readyzOf(url)).toMatchObject({ httpStatus: 200 }), 60_000)
    return { url, stop, isReady }
  }
  const startReady = async (build: string, name: ServiceName) => {
    const service = await start(build, name)
    await service.isReady()
    return service
  }

  await operate(thisBuild, 'provision', '--wait', '60s')
  const { stdout } = await operate(thisBuild, 'keys', 'issue', '--org', 'acme', '--json')
  const { key } = JSON.parse(stdout) as { key: string }
  /** What was acknowledged, by id, with its colour; null where none was sent. */
  const rowsOf = async (type: string, id: string) =>
    new Map(
      (
        await analyst.query<{ id: string; colour: string | null }>(
          `select toString(${id}) as id, colour from weir.${type} where org_id = 'acme'`,
        )
      ).map((row) => [row.id, row.colour]),
    )

  let [edge, integrity, sink] = await Promise.all(
    (['edge', 'integrity', 'sink'] as const).map((name) => startReady(thisBuild, name)),
  )
  const uploaderOf = ({ url }: { url: string }): Uploader => createUploader(url, key)
  if (!edge || !integrity || !sink) throw new Error('three services')

  // In the documented order: provisioning, sink, integrity, edge. Old and new run side by side before each old one goes.
  const second = await buildWith(thisBuild, 'tag', 'colour')
  const oldTags = keepSending(uploaderOf(edge), 'tags', 'tag_id')
  await eventually(() => expect(oldTags.acknowledged.size).toBeGreaterThan(2))
  await operate(second, 'provision')
  const [sink2, integrity2] = [await startReady(second, 'sink'), await startReady(second, 'integrity')]
  await sink.stop()
  await integrity.stop()
  const edge2 = await startReady(second, 'edge')
  const newTags = keepSending(uploaderOf(edge2), 'tags', 'tag_id', 'red')
  await eventually(() => expect(newTags.acknowledged.size).toBeGreaterThan(2), 60_000)
  await Promise.all([oldTags.stop(), newTags.stop()])
  await edge.stop()
  ;[edge, integrity, sink] = [edge2, integrity2, sink2]
  const tags = new Map([...oldTags.acknowledged, ...newTags.acknowledged])
  await eventually(async () => expect(await rowsOf('tags', 'tag_id')).toEqual(tags), 60_000)

  // In the wrong order: the edge first, even before provisioning. It waits for that, and then writes what integrity does not
  // know: integrity stands still, until it is upgraded too.
  const third = await buildWith(second, 'keyword', 'colour')
  const edge3 = await start(third, 'edge')
  await eventually(async () => {
    const { parts: states } = await readyzOf(edge3.url, '?for=uploads')
    expect(states.registry).toMatchObject({ ok: false })
  })
  await operate(third, 'provision')
  await edge3.isReady()
  const keywords = keepSending(uploaderOf(edge3), 'keywords', 'keyword_id', 'green')
  const behind = integrity.url
  await eventually(async () => {
    const { httpStatus, parts: states } = await readyzOf(behind)
    expect(httpStatus).toBe(503)
    expect(states.decisions).toMatchObject({
      problem: expect.stringMatching(
        /^batches of weir\.submitted\.keywords\/\d are not decided or published: offset \d+ was written with a newer schema, in which records\.colour is new or different: upgrade integrity$/,
      ),
    })
  })
  expect(keywords.acknowledged.size).toBe(0)
  await startReady(third, 'integrity')
  await integrity.stop()
  await eventually(() => expect(keywords.acknowledged.size).toBeGreaterThan(2), 60_000)
  // The old sink goes on by itself: the table has the column since provisioning.
  await eventually(async () => {
    const rows = await rowsOf('keywords', 'keyword_id')
    expect([...rows.values()]).toContain('green')
  })
  await startReady(third, 'sink')
  await sink.stop()
  await keywords.stop()
  await eventually(async () => expect(await rowsOf('keywords', 'keyword_id')).toEqual(keywords.acknowledged), 60_000)
  expect(await analyst.query('select type, problems from weir.rejections')).toEqual([])
})

/** As a careful client does: a record of its own each time, the same request until it is accepted. */
const keepSending = (uploader: Uploader, type: string, id: string, colour?: string) => {
  const acknowledged = new Map<string, string | null>()
  let isStopped = false
  const sendOne = async (): Promise<void> => {
    const recordId = randomUUID()
    const record = { [id]: recordId, name: 'a name', ...(colour !== undefined && { colour }) }
    const keyed = { 'idempotency-key': randomUUID() }
    for (;;) {
      const answer = await uploader.upload(type, [record], keyed).catch(() => undefined)
      if (answer?.status === 200) break
      expect([undefined, 500, 503], JSON.stringify(answer?.body)).toContain(answer?.status)
      await wait(100)
    }
    acknowledged.set(recordId, colour ?? null)
  }
  const done = (async () => {
    while (!isStopped) await sendOne()
  })()
  return {
    acknowledged,
    stop: () => {
      isStopped = true
      return done
    },
  }
}
