import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { eventually } from './eventually.js'
import { type Link, openLink } from './link.js'

let server: Server
let link: Link
let sent: string
let arrived: string

beforeEach(async () => {
  sent = ''
  arrived = ''
  server = createServer((socket) => {
    socket.on('data', (bytes) => {
      arrived += bytes
      socket.write(`heard ${bytes}`)
    })
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  link = await openLink(
    { host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    {
      onSent: (bytes) => {
        sent += bytes
      },
    },
  )
})
afterEach(async () => {
  await link.close()
  server.close()
})

const dial = async (): Promise<Socket & { heard: () => string }> => {
  const socket = connect(link.port, '127.0.0.1')
  let heard = ''
  socket.on('data', (bytes) => {
    heard += bytes
  })
  await once(socket, 'connect')
  return Object.assign(socket, { heard: () => heard })
}

it('passes on what is said, both ways', async () => {
  const client = await dial()
  client.write('hello')
  await eventually(() => expect(client.heard()).toBe('heard hello'))
  client.destroy()
})

it('cuts connections and refuses new ones until it is mended', async () => {
  const client = await dial()
  client.on('error', () => {})
  const closed = once(client, 'close')
  await link.cut()
  await closed
  await expect(dial()).rejects.toThrow('ECONNREFUSED')
  await link.mend()
  const another = await dial()
  another.write('again')
  await eventually(() => expect(another.heard()).toBe('heard again'))
  another.destroy()
})

it('lets nothing through while it is frozen, and all of it in order afterwards', async () => {
  const client = await dial()
  link.freeze()
  client.write('one two ')
  await eventually(() => expect(sent).toBe('one two '))
  client.write('three')
  await eventually(() => expect(sent).toBe('one two three'))
  expect(arrived).toBe('')
  link.thaw()
  await eventually(() => expect(arrived).toBe('one two three'))
  client.destroy()
})

it('holds bytes back when it is slow, in order, also when it is quick again before they are through', async () => {
  const client = await dial()
  link.slowDown(500)
  client.write('slow ')
  await eventually(() => expect(sent).toBe('slow '))
  expect(arrived).toBe('')
  link.slowDown(0)
  client.write('quick')
  await eventually(() => expect(arrived).toBe('slow quick'))
  client.destroy()
})

it('still delivers what a dying client has sent', async () => {
  const client = await dial()
  link.slowDown(200)
  client.end('last words')
  await eventually(() => expect(arrived).toBe('last words'))
})

it('forgets connections without a word, and takes new ones', async () => {
  const client = await dial()
  client.write('hello')
  await eventually(() => expect(client.heard()).toBe('heard hello'))
  link.lose()
  client.write(' into the void')
  await eventually(() => expect(sent).toBe('hello into the void'))
  const another = await dial()
  another.write(' again')
  await eventually(() => expect(another.heard()).toBe('heard  again'))
  expect(arrived).toBe('hello again')
  expect(client.closed).toBe(false)
  client.destroy()
  another.destroy()
})
