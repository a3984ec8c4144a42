import { expect, it } from 'vitest'
import { laneOf } from '#platform/kafka/partitions.js'
import { catalogue } from '#schemas/catalogue.js'
import { createValidator } from '#schemas/derive/validator.js'
import { batchIdOf } from '#schemas/uuid.js'
import { createRandom } from '../random.js'
import { bodyOf, type Format, formatFor } from './formats.js'
import { toldChunks } from './import.js'
import type { Plan, Planned, Step } from './plan.js'
import { planPersons } from './plan-persons.js'
import { planEveryType, planImports, planRetries, planWaitsInVain } from './plan-varied.js'

const take = (count: number, plan: Plan, { seed = '7', lanes = 4 } = {}): Step[] => {
  const taken: Step[] = []
  for (const step of plan('client', createRandom(seed), lanes)) if (taken.push(step) === count) break
  return taken
}
const recordsOf = (step: Step): Planned[] => ('records' in step ? step.records : [])
const validators = new Map([...catalogue.uploads.values()].map((type) => [type.type, createValidator(type)]))

const plans = { planPersons, planEveryType, planWaitsInVain, planRetries, planImports }

it.each(Object.entries(plans))('%s is the same for the same seed, and something else for another', (_, plan) => {
  expect(take(20, plan)).toEqual(take(20, plan))
  expect(take(20, plan)).not.toEqual(take(20, plan, { seed: '8' }))
})

it.each(Object.entries(plans))('%s spoils what it says is invalid, and nothing else', (_, plan) => {
  for (const step of take(40, plan))
    for (const { record, expected } of recordsOf(step)) {
      const result = validators.get('type' in step ? step.type : '')?.(record)
      expect(result && 'values' in result, JSON.stringify(record)).toBe(expected !== 'invalid')
    }
})

it('refers to what is there, unless it says otherwise', () => {
  for (const plan of Object.values(plans)) {
    const known = new Set<string>()
    for (const step of take(60, plan)) {
      for (const { id, record, expected } of recordsOf(step)) {
        const fields = Object.entries(catalogue.uploads.get('type' in step ? step.type : '')?.fields ?? {})
        const isWhole = fields.every(([name, { kind }]) => kind !== 'reference' || known.has(String(record[name])))
        if (expected === 'accepted') {
          expect(isWhole).toBe(true)
          known.add(id)
        }
        if (expected === 'expires' || expected === 'unknown_reference') expect(isWhole).toBe(false)
      }
    }
  }
})

it('sends every type, each with every outcome that it can have', () => {
  const seen = new Set(
    take(600, planEveryType).flatMap((step) =>
      recordsOf(step).map(({ expected }) => `${'type' in step && step.type} ${expected}`),
    ),
  )
  const referring = [...catalogue.uploads.values()].filter(({ fields }) =>
    Object.values(fields).some(({ kind }) => kind === 'reference'),
  )
  expect([...seen].sort()).toEqual(
    [
      ...[...catalogue.uploads.keys()].flatMap((type) => [`${type} accepted`, `${type} invalid`]),
      ...referring.map(({ type }) => `${type} unknown_reference`),
    ].sort(),
  )
})

it('waits for what never comes, and sometimes replaces what waits', () => {
  const steps = take(200, planWaitsInVain)
  const waiting = steps.filter((step) => 'waits' in step)
  expect(waiting.length).toBeGreaterThan(100)
  for (const step of waiting)
    expect(recordsOf(step).every(({ expected }) => expected !== 'unknown_reference')).toBe(true)
  const ids = new Set(waiting.flatMap((step) => recordsOf(step).map(({ id }) => id)))
  expect(steps.some((step) => !('waits' in step) && recordsOf(step).some(({ id }) => ids.has(id)))).toBe(true)
})

it('orders what was refused to be submitted again, all of one lane', () => {
  const steps = take(300, planRetries)
  const refused = new Map(steps.flatMap((step) => (step.kind === 'upload' ? [[step.key, step.records] as const] : [])))
  const retries = steps.flatMap((step) => (step.kind === 'retry' ? [step] : []))
  expect(new Set(retries.map(({ expected }) => expected))).toEqual(new Set(['accepted', 'unknown_reference']))
  for (const { of } of retries) {
    const records = refused.get(of) ?? []
    expect(records.length).toBeGreaterThan(0)
    expect(records.every(({ expected, id }) => expected === 'unknown_reference' && laneOf(id, 4) === 0)).toBe(true)
  }
})

it('has persons erased of whom there is everything, and sends them again', () => {
  const steps = take(200, planPersons)
  const erased = steps.flatMap((step) => (step.kind === 'erase' ? [step] : []))
  expect(new Set(erased.map(({ by }) => by))).toEqual(new Set(['customer', 'user']))
  // In every way; some come back.
  expect(new Set(erased.map(({ mode, afterwards }) => `${mode} ${afterwards}`))).toEqual(
    new Set(['erase refuse', 'erase new', 'pseudonymise refuse', 'pseudonymise new']),
  )
  for (const { afterwards, comesBack } of erased) {
    expect(comesBack.length > 0).toBe(afterwards === 'new')
    const back = comesBack.flatMap((step): Pick<Planned, 'expected' | 'asNew'>[] =>
      step.kind === 'interaction' ? [step] : step.records.filter(({ asNew }) => asNew),
    )
    expect(back.map(({ expected, asNew }) => [expected, asNew])).toEqual(comesBack.map(() => ['accepted', true]))
  }
  for (const [n, { customer, user }] of erased.entries()) {
    const at = steps.indexOf(erased[n] as Step)
    const naming = (some: Step[]) =>
      some.flatMap((step) =>
        [...recordsOf(step), ...(step.kind === 'interaction' ? [{ record: step.body, expected: step.expected }] : [])]
          .filter(({ record }) => Object.values(record).some((value) => value === customer || value === user))
          .map(({ expected }) => expected),
      )
    expect(new Set(naming(steps.slice(0, at)))).toEqual(new Set(['accepted', 'invalid', 'waits']))
    const later = naming(steps.slice(at))
    expect(later.length).toBeGreaterThan(0)
    expect(new Set(later)).toEqual(new Set(['erased']))
  }
})

it('imports now and then more than a chunk', () => {
  const sizes = take(60, planImports).map((step) => (step.kind === 'import' ? recordsOf(step).length : 0))
  expect(Math.max(...sizes)).toBeGreaterThan(1000)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(2500)
})

it('writes a CSV only of fields that the type has, and says the same in every format', () => {
  const sent = (record: Record<string, unknown>): { type: string; records: Planned[] } => ({
    type: 'courses',
    records: [{ id: 'a', expected: 'accepted', record }],
  })
  const good = sent({ course_id: 'a', name: 'x, y' })
  const formats: Format[] = ['json', 'ndjson', 'csv']
  const random = createRandom('7')
  const chosen = (given: typeof good) => new Set(Array.from({ length: 100 }, () => formatFor(given, random, formats)))
  expect(chosen(good)).toEqual(new Set(formats))
  expect(chosen(sent({ course_id: 'a', nmae: 'x' }))).toEqual(new Set(['json', 'ndjson']))
  const body = (format: Format) => bodyOf(format, good)
  expect(body('json')).toBe('{"records":[{"course_id":"a","name":"x, y"}]}')
  expect(body('ndjson')).toBe('{"course_id":"a","name":"x, y"}\n')
  expect(body('csv')).toBe('course_id,name,created,updated,is_deleted\na,"x, y",,,\n')
})

it('reads the lines of an import as what was told of each of its chunks', () => {
  const records = Array.from({ length: 7 }, (_, n): Planned => ({ id: `${n}`, expected: 'accepted', record: {} }))
  const ids = [batchIdOf('r1', 0, 4), batchIdOf('r1', 4, 1), batchIdOf('r2', 0, 2)]
  const line = (batch: number, request_id: string, refused: number[]) => ({
    ...{ batch, request_id, batch_id: ids[batch - 1] ?? '', status: refused.length > 0 ? 207 : 200 },
    refused: refused.map((index) => ({ index, problems: [{ code: 'bad_format' }] })),
  })
  const told = toldChunks([line(1, 'r1', [1]), line(2, 'r1', []), line(3, 'r2', [6])], records, {
    limit: 5,
    lanes: [1],
  })
  const refusedAt = (index: number) => [{ index, codes: ['bad_format'] }]
  expect(told).toEqual([
    {
      requestId: 'r1',
      records: records.slice(0, 5),
      batches: [
        { batchId: ids[0], batch: 1, status: 207, places: [0, 1, 2, 3], refused: refusedAt(1), waited: [] },
        { batchId: ids[1], batch: 2, status: 200, places: [4], refused: [], waited: [] },
      ],
    },
    {
      requestId: 'r2',
      records: records.slice(5),
      batches: [{ batchId: ids[2], batch: 1, status: 207, places: [0, 1], refused: refusedAt(1), waited: [] }],
    },
  ])
})
