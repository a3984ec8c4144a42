import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createEdge } from '../edge.js'

const { app } = createEdge()
let port = 0
beforeAll(async () => {
  port = Number(new URL(await app.listen({ host: '127.0.0.1', port: 0 })).port)
})
afterAll(() => app.close())

/** Everything that comes back until the edge hangs up. */
const say = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let heard = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (data) => {
      heard += data
    })
    socket.on('close', () => resolve(heard))
    socket.on('error', reject)
  })

it.each([
  ['nonsense', 'nonsense\r\n\r\n', 400],
  [
    'two lengths',
    'POST /v1/data/shops HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
    400,
  ],
  ['endless headers', `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`, 431],
])('answers %s in its own shape', async (_, text, status) => {
  const [head = '', body = ''] = (await say(text)).split('\r\n\r\n')
  expect(head).toContain(`HTTP/1.1 ${status}`)
  expect(body.endsWith('}\n')).toBe(true)
  expect(head).toContain(`Content-Length: ${Buffer.byteLength(body)}\r\n`)
  expect(JSON.parse(body)).toMatchObject({
    error: expect.any(String),
    message: expect.any(String),
    request_id: expect.any(String),
  })
})
