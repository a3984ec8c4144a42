import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { within } from '#platform/process/within.js'
import { tag } from '#schemas/records/tag.js'
import { eventually } from '../support/eventually.js'
import { itDeep } from '../support/it-deep.js'
import { openLinkTo } from '../support/link.js'
import { sampleOf } from '../support/sample.js'
import { isDeep, sized } from '../support/sized.js'
import { type ServiceName, startService } from '../support/system/another-service.js'
import { membersOf } from '../support/system/groups.js'
import { kill } from '../support/system/processes.js'
import { readyzOf } from '../support/system/readiness.js'
import { newOrganisation, system } from '../support/system/system.js'

// What an operator's orchestrator gives a process before it kills it.
const stopsInTime = (service: { stop: () => Promise<void> }) => within(10_000, service.stop())

const org = await newOrganisation('shutdown')
const agent = new Agent({ keepAlive: true })
afterAll(() => agent.destroy())
const upload = async (url: string, headers: Record<string, string> = {}) => {
  const asked = request(`${url}/v1/data/tags`, {
    agent,
    method: 'POST',
    headers: { authorization: `Bearer ${org.key}`, 'content-type': 'application/json', ...headers },
  })
  asked.end(JSON.stringify({ records: [sampleOf(tag)] }))
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, connection: answer.headers.connection, body: await json(answer) }
}
const waiting = (url: string, count: number) =>
  eventually(async () => {
    const figures = await (await fetch(`${url}/metrics`)).text()
    expect(Number(/^weir_edge_batches_in_flight (\d+)/m.exec(figures)?.[1])).toBe(count)
  })
const isRefused = (port: number) =>
  eventually(async () => {
    const socket = connect(port, '127.0.0.1')
    // An edge that has not closed its port yet still takes the connection: it is asked again.
    const connected = once(socket, 'connect').finally(() => socket.destroy())
    await expect(connected).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

describe('an edge that is told to stop', () => {
  it('answers those who wait, each for the last time, and takes nobody new', async () => {
    const edge = await startService('edge')
    expect(await upload(edge.url)).toMatchObject({ status: 200, connection: 'keep-alive' })
    kill('integrity', 'SIGSTOP')
    let stopped: Promise<void> | undefined
    let answers: ReturnType<typeof upload>[] = []
    try {
      answers = [upload(edge.url), upload(edge.url), upload(edge.url)]
      await waiting(edge.url, 3)
      stopped = stopsInTime(edge)
      await isRefused(edge.port)
    } finally {
      kill('integrity', 'SIGCONT')
    }
    for (const answer of await Promise.all(answers))
      expect(answer).toMatchObject({ status: 200, connection: 'close', body: { batches: [{ status: 200 }] } })
    await stopped
  })

  itDeep('does so too when no verdict comes and Postgres hangs', async () => {
    const link = await openLinkTo(system.env.POSTGRES_URL)
    const edge = await startService('edge', { POSTGRES_URL: link.url })
    expect((await upload(edge.url)).status).toBe(200)
    kill('integrity', 'SIGSTOP')
    try {
      link.freeze()
      const unkeyed = upload(edge.url)
      const keyed = upload(edge.url, { 'idempotency-key': `shutdown-${edge.pid}` })
      await waiting(edge.url, 1)
      const stopped = stopsInTime(edge)
      expect(await unkeyed).toMatchObject({ status: 500, connection: 'close', body: { batches: [{ status: 500 }] } })
      expect(await keyed).toMatchObject({ status: 503, body: { error: 'Service Unavailable' } })
      await stopped
    } finally {
      kill('integrity', 'SIGCONT')
      await link.close()
    }
  })
})

type Second = { name: ServiceName; groups: string[]; part: 'POSTGRES_URL' | 'CLICKHOUSE_URL'; partName: string }
describe.each<Second>([
  {
    name: 'integrity',
    groups: ['weir-integrity', 'weir-integrity-interactions'],
    part: 'POSTGRES_URL',
    partName: 'postgres',
  },
  // It leaves its groups by the same code.
  ...sized<Second[]>(
    [],
    [
      {
        name: 'sink',
        groups: ['weir-sink', 'weir-sink-interactions'],
        part: 'CLICKHOUSE_URL',
        partName: 'clickhouse',
      },
    ],
  ),
])('a second $name that is told to stop', ({ name, groups, part, partName }) => {
  const members = () => membersOf(system.env.KAFKA_BROKERS, groups)
  /** Once no other is in the groups: one that an earlier journey killed stays there until its session ends. */
  const membersWhenAlone = () =>
    eventually(async () => {
      const found = await members()
      expect(found.map(({ length }) => length)).toEqual([1, 1])
      return found
    })
  const isShared = () => eventually(async () => expect((await members()).map(({ length }) => length)).toEqual([2, 2]))

  // The next one shows the same, where it is harder.
  if (isDeep)
    it('has left its groups when it ends', async () => {
      const alone = await membersWhenAlone()
      const second = await startService(name)
      await isShared()
      await stopsInTime(second)
      expect(await members()).toEqual(alone)
    })

  it('has left its groups when it ends, also while its work hangs, and the other one does that work', async () => {
    const alone = await membersWhenAlone()
    const link = await openLinkTo(system.env[part])
    try {
      const second = await startService(name, { [part]: link.url })
      await isShared()
      link.freeze()
      // So many that one of them is almost surely in its partitions.
      const organisations = await Promise.all(Array.from({ length: 6 }, () => newOrganisation('shutdown')))
      const answers = organisations.map(({ uploader }) => uploader.upload('tags', [sampleOf(tag)]))
      await eventually(async () => {
        const { parts } = await readyzOf(second.url)
        expect(parts[partName]).toMatchObject({ ok: false })
      })
      if (name === 'sink') await Promise.all(answers)
      await stopsInTime(second)
      expect(await members()).toEqual(alone)
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 200))
    } finally {
      await link.close()
    }
  })
})
