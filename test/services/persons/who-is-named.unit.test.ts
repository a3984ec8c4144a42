import { randomBytes, randomUUID } from 'node:crypto'
import avro from 'avsc'
import { expect, it } from 'vitest'
import { hashOfName } from '#ledger/erasures/gates.js'
import { createWhoIsNamed } from '#persons/erase/who-is-named.js'

const salt = randomBytes(32)
const [ann, bob, cy] = [randomUUID(), randomUUID(), randomUUID()]
const sought = (orgId: string, names: readonly string[], areKnown: boolean) => ({
  ...{ orgId, salt, whole: [] },
  persons: new Map(names.map((name) => [`of ${name}`, [hashOfName(salt, name).toString('hex')]])),
  ids: areKnown ? new Set(names) : undefined,
})

// Of what cannot be decoded nobody knows whose it is.
it('finds a whole organisation in bytes by its id, as Avro and JSON have it, and not where the id is part of something longer', () => {
  const who = createWhoIsNamed([
    { ...sought('acme', [], true), whole: ['of acme'] },
    { ...sought('a', [], true), whole: ['of a'] },
    sought('other', [ann], true),
  ])
  const type = avro.Type.forSchema({
    type: 'record',
    name: 'Batch',
    fields: ['org_id', 'text'].map((name) => ({ name, type: 'string' })),
  } as const)
  const found = (org_id: string, text: string) => who.wholesIn(type.toBuffer({ org_id, text }))
  for (const org of ['acme', 'a']) {
    expect(found(org, 'torn')).toEqual([`of ${org}`])
    expect(found('torn', JSON.stringify({ org_id: org }))).toEqual([`of ${org}`])
  }
  for (const org of ['acme-2', 'my-acme', 'other', 'ACME']) expect(found(org, 'an acme, a man')).toEqual([])
  expect(who.wholesIn(Buffer.alloc(0))).toEqual([])
})

// While the ids are known it looks for them, later for what has one of their hashes: both have to find the same.
it.each([true, false])('finds persons in bytes, with their ids known: %s', (areKnown) => {
  const who = createWhoIsNamed([sought('acme', [ann, bob, 'u-17'], areKnown), sought('other', [cy], areKnown)])
  const found = (orgId: string | undefined, key: string | null, value: Buffer | string | null) =>
    [...who.of(orgId, who.uuidsIn({ key, value: typeof value === 'string' ? Buffer.from(value) : value }))].sort()
  const noise = () => randomBytes(Math.floor(Math.random() * 60))

  for (let n = 0; n < 200; n++)
    expect(found('acme', null, Buffer.concat([noise(), Buffer.from(ann), noise()]))).toEqual([`of ${ann}`])
  expect(found('acme', null, ann)).toEqual([`of ${ann}`])
  expect(found('acme', null, ann.toUpperCase())).toEqual([`of ${ann}`])
  expect(found('acme', null, `${randomUUID()}${ann}${bob}-${randomUUID()}`)).toEqual([`of ${ann}`, `of ${bob}`].sort())
  expect(found('acme', null, `ffff${ann}ffff`)).toEqual([`of ${ann}`])
  expect(found('acme', `acme/${bob}`, null)).toEqual([`of ${bob}`])
  expect(found('acme', null, ann.slice(0, -1))).toEqual([])
  expect(found('acme', null, `${ann.slice(0, 8)}${randomUUID().slice(8)} ${randomUUID()}`)).toEqual([])
  expect(found('acme', null, ann.replaceAll('-', '_'))).toEqual([])
  expect(found('acme', null, '')).toEqual([])
  // Each in what is of its own organisation; of all of them where nobody knows whose it is.
  expect(found('acme', null, cy)).toEqual([])
  expect(found('another', null, `${ann} ${cy}`)).toEqual([])
  expect(found(undefined, null, `${ann} ${cy}`)).toEqual([`of ${ann}`, `of ${cy}`].sort())
  // An id that is no UUID is found where it is named as such.
  expect([...who.of('acme', ['u-17'])]).toEqual(['of u-17'])
  expect(found('acme', null, 'u-17')).toEqual([])
})
