import { laneOf } from '#platform/kafka/partitions.js'
import { catalogue } from '#schemas/catalogue.js'
import type { RecordType } from '#schemas/record.js'
import type { Random } from '../random.js'
import { type Plan, type Planned, type Step, spoilings, type UploadStep } from './plan.js'

const types = [...catalogue.uploads.values()]
const referenced = types.filter(({ type }) => catalogue.referenced.has(type))
const referring = types.filter((type) => Object.values(type.fields).some(({ kind }) => kind === 'reference'))
const mostRecords = 10

/** Records of every type. Now and then some are invalid, or refer to something that is not there. */
export const planEveryType: Plan = function* (name, random) {
  const writer = createWriter(name, random)
  yield* writer.first()
  while (true) {
    const type = random.pick(types)
    const records = random.some(writer.idsOf(type), random.int(1, mostRecords)).map((id): Planned => {
      const planned = writer.planned(type, id)
      if (random.chance(0.08)) return spoiled(planned, random)
      return random.chance(0.1) ? writer.astray(type, id) : planned
    })
    yield writer.upload(type, records)
  }
}

/** Records that wait for what never comes; some are replaced by newer ones of their ids, which may or may not wait. */
export const planWaitsInVain: Plan = function* (name, random) {
  const writer = createWriter(name, random)
  yield* writer.first()
  while (true) {
    const type = random.pick(referring)
    const ids = random.some(writer.idsOf(type), random.int(1, mostRecords))
    const records = ids.map((id): Planned => {
      const planned = random.chance(0.8) ? writer.astray(type, id) : writer.planned(type, id)
      return planned.expected === 'accepted' ? planned : { ...planned, expected: 'expires' }
    })
    yield { ...writer.upload(type, records), waits: `${random.pick([1, 3, 10, 20])}s` }
    if (random.chance(0.3)) yield writer.upload(type, [writer.planned(type, random.pick(ids))])
  }
}

/** Records that are refused because their shop is missing, their shop (or not), and the order to submit them again. */
export const planRetries: Plan = function* (name, random, lanes) {
  const writer = createWriter(name, random)
  const shop = catalogue.uploads.get('shops') as RecordType
  while (true) {
    const type = catalogue.uploads.get(random.pick(['offers', 'branches', 'transactions'])) as RecordType
    const shopId = random.uuid()
    // In one lane: only within a lane records are submitted again in the order in which they were refused.
    const ids = Array.from({ length: random.int(1, mostRecords) }, () => idInLane(random, 0, lanes))
    const refused = writer.upload(
      type,
      ids.map((id) => {
        const { record } = writer.planned(type, id)
        return { id, expected: 'unknown_reference', record: { ...record, shop_id: shopId } }
      }),
    )
    yield { ...refused, owes: true }
    const comes = random.chance(0.75)
    if (comes) yield { ...writer.upload(shop, [writer.planned(shop, shopId)]), owes: true }
    const expected = comes ? 'accepted' : 'unknown_reference'
    yield { kind: 'retry', key: `${refused.key}-retry`, of: refused.key, expected }
  }
}

/** Imports, some of several chunks, in which an id may come again: then the last one counts. */
export const planImports: Plan = function* (name, random) {
  const writer = createWriter(name, random)
  yield* writer.first()
  // Those with the smallest chunks.
  const [small] = types.toSorted((a, b) => a.limit - b.limit) as [RecordType]
  const many = Array.from({ length: small.limit }, random.uuid)
  while (true) {
    const isLong = random.chance(0.25)
    const type = isLong ? small : random.pick(types)
    const count = isLong ? random.int(small.limit + 1, 2.5 * small.limit) : random.int(1, 60)
    const records = random.some(isLong ? many : writer.idsOf(type), count).map((id): Planned => {
      const planned = writer.planned(type, id)
      return random.chance(0.03) ? spoiled(planned, random) : planned
    })
    const { key } = writer.upload(type, records)
    yield { kind: 'import', type: type.type, key, records }
  }
}

// Types without a name cannot miss it.
const bad = spoilings.slice(1)
export const spoiled = (planned: Planned, random: Random): Planned => ({
  ...planned,
  expected: 'invalid',
  record: random.pick(bad)(planned.record),
})

/** Makes records of any type from its declaration, and remembers which there are to refer to. */
export const createWriter = (name: string, random: Random) => {
  const ids = new Map(types.map(({ type }) => [type, Array.from({ length: 8 }, random.uuid)]))
  const idsOf = ({ type }: RecordType): string[] => ids.get(type) ?? []
  let revision = 0

  const planned = (type: RecordType, id: string): Planned => {
    const valueFor = (field: string, declared: RecordType['fields'][string]): unknown => {
      switch (declared.kind) {
        case 'uuid':
          return field === type.id ? id : random.uuid()
        case 'reference':
          return random.pick(ids.get(declared.to) ?? [])
        case 'text':
          return `${name} revision ${revision}`
        case 'country':
          return random.pick(['GB', 'DE', 'FR'])
        case 'number':
          return revision + 0.5
        default:
          throw new Error(`no uploaded type requires a field like ${field}`)
      }
    }
    const required = Object.entries(type.fields).filter(([, { required }]) => required)
    const record = Object.fromEntries(required.map(([field, declared]) => [field, valueFor(field, declared)]))
    return { id, expected: 'accepted', record: { ...record, ...(random.chance(0.1) && { is_deleted: true }) } }
  }
  const upload = (type: RecordType, records: Planned[]): UploadStep => ({
    kind: 'upload',
    type: type.type,
    key: `${name}-${revision++}`,
    records,
  })

  return {
    idsOf,
    planned,
    upload,
    /** One that refers to something that never comes, where its type refers to anything. */
    astray: (type: RecordType, id: string): Planned => {
      const good = planned(type, id)
      const [field] = Object.entries(type.fields).find(([, { kind }]) => kind === 'reference') ?? []
      if (field === undefined) return good
      return { id, expected: 'unknown_reference', record: { ...good.record, [field]: random.uuid() } }
    },
    /** What all others may refer to. */
    first: function* (): Generator<Step> {
      for (const type of referenced)
        yield upload(
          type,
          idsOf(type).map((id) => planned(type, id)),
        )
    },
  }
}

const idInLane = (random: Random, lane: number, lanes: number): string => {
  for (;;) {
    const id = random.uuid()
    if (laneOf(id, lanes) === lane) return id
  }
}
