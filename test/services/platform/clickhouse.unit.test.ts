import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'

/** What is asked of a server that knows these settings beside the old ones, by the first word of the statement. */
const startServer = async (known: readonly string[]) => {
  const asked: Record<string, string>[] = []
  const server = createServer((request, response) => {
    const parameters = Object.fromEntries(new URL(request.url ?? '/', 'http://clickhouse').searchParams)
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      if (body.includes('system.settings'))
        return response.end(known.map((name) => `${JSON.stringify({ name })}\n`).join(''))
      asked.push(parameters)
      return response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

it("inserts for good whatever the server's defaults are: no buffer, no block passed over", async () => {
  const { asked, url } = await startServer(['deduplicate_insert', 'deduplicate_insert_select'])
  const clickhouse = createClickHouse(url)
  onTestFinished(() => clickhouse.close())
  await clickhouse.insertAvro('weir.shops_log', Buffer.from('rows'))
  await clickhouse.command('insert into weir.shops_log select 1')
  const settings = { async_insert: '0', insert_deduplicate: '0', deduplicate_insert: 'disable' }
  expect(asked).toMatchObject([
    { query: 'insert into weir.shops_log format Avro', ...settings },
    { ...settings, deduplicate_insert_select: 'disable' },
  ])
})

it('sends no setting that an older server does not know, and none of a cluster to a server without one', async () => {
  const { asked, url } = await startServer([])
  const clickhouse = createClickHouse(url)
  onTestFinished(() => clickhouse.close())
  await clickhouse.insertAvro('weir.shops_log', Buffer.from('rows'))
  expect(asked[0]).toMatchObject({ insert_deduplicate: '0' })
  expect(Object.keys(asked[0] ?? {}).filter((name) => /^deduplicate|quorum|distributed/.test(name))).toEqual([])
})

it('waits on a cluster until the shards, and as many replicas as asked, have the rows', async () => {
  const { asked, url } = await startServer([])
  const clickhouse = createClickHouse(url, { cluster: 'main', quorum: '2' })
  onTestFinished(() => clickhouse.close())
  await clickhouse.insertAvro('weir.shops_log', Buffer.from('rows'))
  expect(asked[0]).toMatchObject({
    distributed_foreground_insert: '1',
    insert_quorum: '2',
    insert_quorum_parallel: '1',
    async_insert: '0',
  })
})
