import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { createAnswerReader, type HttpAnswer, openConnection } from './connection.js'

const wire = (status: number, body: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`HTTP/1.1 ${status} Whatever\r\nX-A: b\r\nContent-Length: ${body.length}\r\n\r\n`), body])

const answers = fc.array(
  fc.record({
    status: fc.integer({ min: 200, max: 599 }),
    body: fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes)),
  }),
  { minLength: 1, maxLength: 4 },
)

it('reads answers one after another, however the network cuts them', () => {
  fc.assert(
    fc.property(answers, fc.infiniteStream(fc.integer({ min: 1, max: 40 })), (sent, sizes) => {
      const read = createAnswerReader()
      const heard: HttpAnswer[] = []
      for (const { status, body } of sent) {
        const bytes = wire(status, body)
        for (let from = 0; from < bytes.length; ) {
          const to = from + sizes.next().value
          const answer = read(bytes.subarray(from, to))
          if (answer) heard.push({ status: answer.status, body: Buffer.from(answer.body) })
          from = to
        }
      }
      expect(heard).toEqual(sent)
    }),
  )
})

it('refuses what it cannot measure: an answer without a length, or with more bytes than it says', () => {
  expect(() => createAnswerReader()(Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'))).toThrow(
    'Content-Length',
  )
  expect(() => createAnswerReader()(Buffer.concat([wire(200, Buffer.from('a')), Buffer.from('b')]))).toThrow('longer')
})

it('sends one request after another on one connection, and says so when the server hangs up', async () => {
  let requests = 0
  const sockets = new Set<unknown>()
  const server = createServer(async (request, response) => {
    sockets.add(request.socket)
    let size = 0
    for await (const chunk of request) size += chunk.length
    requests++
    if (request.url === '/gone') return void request.socket.destroy()
    const body = `${request.url} ${size}`
    response.writeHead(201, { 'content-length': body.length }).end(body)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const connection = await openConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const head = (path: string, length: number) =>
    Buffer.from(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`)
  for (const size of [0, 10, 1_000_000]) {
    const { status, body } = await connection.send(head('/a', size), Buffer.alloc(size, 'x'))
    expect([status, String(body)]).toEqual([201, `/a ${size}`])
  }
  await expect(connection.send(head('/gone', 1), Buffer.from('x'))).rejects.toThrow('closed a connection')
  expect([requests, sockets.size]).toEqual([4, 1])
})
