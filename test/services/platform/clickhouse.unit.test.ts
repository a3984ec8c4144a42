import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'

it("inserts for good whatever the server's defaults are: no buffer, no block passed over", async () => {
  const asked: URLSearchParams[] = []
  const server = createServer((request, response) => {
    asked.push(new URL(request.url ?? '/', 'http://clickhouse').searchParams)
    request.resume().on('end', () => response.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const clickhouse = createClickHouse(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => clickhouse.close())
  await clickhouse.insertAvro('weir.shops_log', Buffer.from('rows'))
  expect(Object.fromEntries(asked[0] ?? [])).toMatchObject({
    query: 'insert into weir.shops_log format Avro',
    async_insert: '0',
    insert_deduplicate: '0',
  })
})
