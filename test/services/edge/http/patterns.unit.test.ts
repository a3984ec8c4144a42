import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { bearerOf } from '#http/authenticate.js'
import { createReadQuery } from '#http/endpoint.js'
import { isIdempotencyKey } from '#http/ids.js'
import { notFound } from '#http/resource.js'
import { keyIdOf } from '#ledger/key-text.js'
import { interactionReads, readCursor } from '#query/interactions/list-interactions.js'
import { catalogue } from '#schemas/catalogue.js'
import { nearest } from '#schemas/derive/nearest-name.js'
import { createValidator } from '#schemas/derive/validator.js'
import { createReader, isFault } from '#schemas/derive/value-reader.js'
import { listInteractionsOf } from '#schemas/endpoints/interactions.js'
import { isUuid } from '#schemas/uuid.js'
import { describeFault } from '../../../../services/edge/body/json-fault.js'
import { sized } from '../../../support/sized.js'
import { threadTime } from '../../../support/thread-time.js'

const length = 100_000
// Work that grows with the length takes about a millisecond for a text; with its square, ten seconds and more. The
// engine stops after a while by the clock, so that a pattern that never ends fails its test and not the run.
const bound = 5000
const inTime = (work: () => unknown, timeout = 60_000) => {
  const before = threadTime()
  runInNewContext('void work()', { work }, { timeout })
  expect(threadTime() - before).toBeLessThan(bound)
}

const folders = ['schemas', 'services/edge', 'services/ledger', 'services/platform']
const sources = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) =>
    name.endsWith('.ts') ? [join(folder, name)] : [],
  ),
)

/** Every regular expression in a file, as it is written there. */
const patternsIn = (file: string): string[] => {
  const found: string[] = []
  const visit = (node: ts.Node) => {
    if (ts.isRegularExpressionLiteral(node)) found.push(node.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest))
  return found
}

/** Texts that a pattern may like up to their end: its own characters, alone and in pairs, after something that fits. */
const attacksOn = (pattern: string): string[] => {
  const own = [...new Set([...pattern.replaceAll(/\\[a-z]|[\^$*+?()[\]{}|]/g, ''), '0', 'a', ' ', '\\', '\0'])].slice(
    0,
    sized(5, 14),
  )
  const units = [...own, ...own.flatMap((a) => own.map((b) => a + b)), ...fitting]
  return units.map((unit) => unit.repeat(Math.ceil(length / unit.length))).flatMap((text) => [text, `${text}\n!`])
}
const fitting = ['2024-05-31T12:30:15.123456789+02:00', 'Bearer x', '/v1/data/x', '3f2b8c1e-', '1.5e+3', '😀', '\ud800']

it('the bound tells a slow path', () => {
  const text = `${'a'.repeat(length)}!`
  expect(() => inTime(() => /^a*a*$/.exec(text), 200)).toThrow(/timed out/)
  expect(() => inTime(() => /^(a|a)*$/.exec(text), 200)).toThrow(/timed out/)
})

describe.each(sources.map((file) => [file, patternsIn(file)] as const).filter(([, found]) => found.length > 0))(
  '%s',
  (_, patterns) => {
    it.each(patterns)('%s has no slow path', (literal) => {
      const end = literal.lastIndexOf('/')
      const pattern = new RegExp(literal.slice(1, end), literal.slice(end + 1))
      const attacks = attacksOn(literal)
      inTime(() => {
        for (const text of attacks) pattern.global ? text.replace(pattern, '') : pattern.exec(text)
      })
    })
  },
)

const long = ['0', '-', 'a', ' ', '_', '\0', '\ud800', '😀', '{', '"', '2024-05-31T00:00:00.', '\u0130']
  .map((unit) => unit.repeat(Math.ceil(length / unit.length)))
  .flatMap((text) => [text, `${text}!`, ` ${text}`])

// 5000 ids in one text, so 100 kB are not too long for it.
const listOfIds = 'offers.allowed_branches'

describe('100 kB', () => {
  const fields = [...catalogue.all.values()].flatMap((type) =>
    Object.entries(type.fields).map(([name, field]) => [`${type.type}.${name}`, createReader(field)] as const),
  )
  it.each(fields)('in %s takes no slow path', (name, read) => {
    inTime(() => long.forEach(read))
    if (name !== listOfIds) for (const text of long) expect(isFault(read(text))).toBe(true)
  })

  const shops = catalogue.uploads.get('shops')
  const { interaction } = catalogue
  const readQuery = createReadQuery(listInteractionsOf(interaction), {}, interactionReads(interaction))
  const readers: [string, (text: string) => unknown][] = [
    ['the name of a field', (text) => shops && createValidator(shops)({ [text]: text, shop_id: text })],
    ['thousands of names', (text) => shops && createValidator(shops)(Object.fromEntries(namesFrom(text)))],
    ['a nearest name', (text) => nearest(text, [...catalogue.uploads.keys()])],
    ['a key', (text) => [keyIdOf(text), keyIdOf(`weir_${text}`), bearerOf(text), bearerOf(`Bearer ${text}`)]],
    ['an id', (text) => [isUuid(text), isIdempotencyKey(text)]],
    ['a cursor', (text) => readCursor(text)],
    ['a query', (text) => readQuery({ limit: text, cursor: text, from: text, user_id: text, [text]: text })],
    ['an address', (text) => notFound(`/v1/data/${text}`, catalogue)],
    ['broken JSON', (text) => [describeFault(text), describeFault(`["${text}`), describeFault(`[-${text}`)]],
  ]
  it.each(readers)('as %s has no slow path', (_, read) => {
    inTime(() => long.forEach(read))
  })
})

const namesFrom = (text: string): [string, string][] =>
  Array.from({ length: 5000 }, (_, i) => [`${text.slice(0, 3)}${i}`, ''])
