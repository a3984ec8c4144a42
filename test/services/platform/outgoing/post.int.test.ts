import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createReach, type FoundAddress } from '#platform/outgoing/addresses.js'
import { createPost } from '#platform/outgoing/post.js'

// Against real servers on loopback, which stands for a network that the operator allows.

const serve = async (answer: RequestListener) => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.host} ${request.url}`)
    answer(request, response)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, asked }
}
const loopback: FoundAddress = { address: '127.0.0.1', family: 4 }
const inside: FoundAddress = { address: '10.0.0.1', family: 4 }
const reach = createReach('127.0.0.1')
const to = (url: string, post = createPost(reach)) => post(url, { 'webhook-id': 'a' }, '{"é":1}')

it('connects to the address that it has checked, whatever the name leads to a moment later', async () => {
  const { port, asked } = await serve((_, response) => response.end('taken'))
  let times = 0
  // As a name that is changed between the check and the connection.
  const resolve = async () => (times++ === 0 ? [inside, loopback] : [inside])
  const post = createPost(reach, resolve)
  expect(await to(`http://hooks.example:${port}/x`, post)).toMatchObject({ status: 200, answer: 'taken' })
  expect(times).toBe(1)
  expect(asked).toEqual([`POST hooks.example:${port} /x`])
  expect(await to(`http://hooks.example:${port}/x`, post)).toMatchObject({
    status: null,
    problem: expect.stringContaining('not a public address'),
  })
  expect(asked).toHaveLength(1)
})

it('follows redirects with the same body, to addresses that it checks each time, and to no other scheme', async () => {
  const end = await serve((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk)).on('end', () => response.end(Buffer.concat(chunks)))
  })
  let location = ''
  const { port, asked } = await serve((_, response) => response.writeHead(307, { location }).end())
  const from = (next: string) => {
    location = next
    return to(`http://127.0.0.1:${port}/from`)
  }
  expect(await from(`http://127.0.0.1:${end.port}/end`)).toMatchObject({ status: 200, answer: '{"é":1}' })
  for (const next of [
    'http://127.0.0.2/',
    'http://169.254.169.254/latest',
    'http://[::1]/',
    'http://[::ffff:10.0.0.1]/',
  ])
    expect(await from(next), next).toMatchObject({ problem: expect.stringContaining('not a public address') })
  expect(await from('https://127.0.0.1/')).toMatchObject({ problem: 'a redirect from http: to https:' })
  expect(await from('file:///etc/passwd')).toMatchObject({ problem: 'a redirect from http: to file:' })
  const before = asked.length
  expect(await from('/round')).toMatchObject({ problem: 'more than 3 redirects' })
  expect(asked.length - before).toBe(4)
})

it('speaks plain http only where the operator allows the network', async () => {
  const resolve = async (): Promise<FoundAddress[]> => [{ address: '8.8.8.8', family: 4 }]
  expect(await to('http://public.example/', createPost(reach, resolve))).toMatchObject({
    problem: expect.stringContaining('use https'),
  })
})

it('keeps 2 KB of an answer, does not wait for the rest of it, and gives up on one that does not begin', async () => {
  const { port } = await serve((request, response) => {
    if (request.url === '/silent') return
    response.writeHead(500, { 'retry-after': '7' })
    response.write('x'.repeat(request.url === '/large' ? 100_000 : 10))
    if (request.url === '/large') response.end()
  })
  const large = await to(`http://127.0.0.1:${port}/large`)
  expect(large).toMatchObject({ status: 500, answer: 'x'.repeat(2048), retryAfter: 7 })
  expect(await to(`http://127.0.0.1:${port}/endless`)).toMatchObject({ status: 500, answer: 'x'.repeat(10) })
  const hasty = createPost(reach, undefined, 200)
  expect(await to(`http://127.0.0.1:${port}/silent`, hasty)).toMatchObject({ problem: 'no answer within 0.2 s' })
  const forgotten = createPost(reach, () => new Promise(() => {}), 200)
  expect(await to('https://slow.example/', forgotten)).toMatchObject({ problem: 'no answer within 0.2 s' })
})
