import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import avro from 'avsc'
import { expect, it, onTestFinished } from 'vitest'
import { createRegistry, NewerSchema, Undecodable } from '#platform/registry.js'

type Answer = { status: number; body: string }

/** What stands at the registry's address: the same answer to whatever is asked. */
const registryThatAnswers = async ({ status, body }: Answer) => {
  const server = createServer((_, response) => response.writeHead(status).end(body))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return createRegistry(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

const schemaOf = (name: string, ...fields: unknown[]) => ({ type: 'record', name, fields }) as avro.Schema
const size = { name: 'size', type: 'string' }
const colour = { name: 'colour', type: ['null', 'string'], default: null }
const messageOf = (schema: avro.Schema, value: unknown) =>
  Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), avro.Type.forSchema(schema).toBuffer(value)])
const holding = (schema: unknown) =>
  registryThatAnswers({ status: 200, body: JSON.stringify({ schema: JSON.stringify(schema) }) })

it.each([
  { who: 'a proxy', answer: { status: 404, body: '<html>404 Not Found</html>' }, isUndecodable: false },
  { who: 'another service', answer: { status: 404, body: '{"message":"no route"}' }, isUndecodable: false },
  { who: 'a registry that is down', answer: { status: 503, body: '' }, isUndecodable: false },
  { who: 'the registry itself', answer: { status: 404, body: '{"error_code":40403}' }, isUndecodable: true },
])('takes a message for unreadable only at the word of the registry: $who', async ({ answer, isUndecodable }) => {
  const registry = await registryThatAnswers(answer)
  const decode = registry.decoder(schemaOf('Thing', size))
  const failure = await decode(messageOf(schemaOf('Thing', size), { size: 'small' })).catch((error: Error) => error)
  expect(failure).toBeInstanceOf(Error)
  expect(failure instanceof Undecodable).toBe(isUndecodable)
})

it('takes a message whose schema is not Avro for unreadable', async () => {
  const registry = await registryThatAnswers({ status: 200, body: JSON.stringify({ schema: 'syntax = "proto3";' }) })
  await expect(registry.decoder(schemaOf('Thing', size))(messageOf('string', 'x'))).rejects.toThrow(Undecodable)
})

it('stops at a message of a newer schema where the whole of it is wanted', async () => {
  const newer = schemaOf('Thing', size, colour)
  const message = messageOf(newer, { size: 'small', colour: 'red' })
  const registry = await holding(newer)
  await expect(registry.decoder(schemaOf('Thing', size), { whole: true })(message)).rejects.toThrow(
    new NewerSchema('written with a newer schema, in which colour is new or different'),
  )
  expect(await registry.decoder(schemaOf('Thing', size))(message)).toEqual({ size: 'small' })
})

it('stops at a message in which a required field may be absent', async () => {
  const newer = schemaOf('Thing', { name: 'size', type: ['null', 'string'], default: null })
  const decode = (await holding(newer)).decoder(schemaOf('Thing', size), { whole: true })
  await expect(decode(messageOf(newer, { size: null }))).rejects.toThrow(NewerSchema)
})

it("does not take a stranger's schema, which has another name, for a newer one", async () => {
  const strange = schemaOf('Other', size, colour)
  const decode = (await holding(strange)).decoder(schemaOf('Thing', size), { whole: true })
  await expect(decode(messageOf(strange, { size: 'small', colour: null }))).rejects.toThrow(Undecodable)
})

it('reads what an older version wrote', async () => {
  const older = schemaOf('Thing', size)
  const decode = (await holding(older)).decoder(schemaOf('Thing', size, colour), { whole: true })
  expect(await decode(messageOf(older, { size: 'small' }))).toEqual({ size: 'small', colour: null })
})
