import { catalogue } from '#schemas/catalogue.js'
import type { Random } from '../random.js'

/** A record to be sent, and what a careful reader of the rules expects to become of it. */
export type Planned = {
  id: string
  expected: Expected
  record: Record<string, unknown>
  /** It names somebody who was erased, and is taken as somebody new since. */
  asNew?: true
}
/**
 * `waits`: until what it refers to comes in a later step. `expires`: what it waits for never comes. `erased`: it names somebody whose erasure
 * was asked for, so that it may be accepted until that is done, and is refused from then on, unless that person is taken as somebody new.
 */
export type Expected = 'accepted' | 'invalid' | 'unknown_reference' | 'waits' | 'expires' | 'erased'

type Waits = {
  /** Sent with the wish that what refers to something missing waits for it, this long. */
  waits?: string
  /** What this step's records wait for comes in a later one: whoever stops goes on until then. */
  owes?: true
}
export type UploadStep = Waits & { kind: 'upload'; type: string; key: string; records: Planned[] }
export type InteractionStep = Waits & {
  kind: 'interaction'
  /** Carried by the interaction as its user_id: no other has it. */
  marker: string
  key: string | null
  expected: Expected
  body: Record<string, unknown>
  asNew?: true
}
/** Several in one request, all with its key. */
export type InteractionsStep = Waits & { kind: 'interactions'; key: string; each: InteractionStep[] }
/** As many records as there are, sent as one body, and sent again after each interruption. */
export type ImportStep = { owes?: true; kind: 'import'; type: string; key: string; records: Planned[] }
/** The refused records of an upload of this client are submitted again, by two orders at the same time. */
export type RetryStep = { owes?: true; kind: 'retry'; key: string; of: string; expected: Expected }
export type WayToErase = { mode: 'erase' | 'pseudonymise'; afterwards: 'refuse' | 'new' }
/** A customer is to be forgotten; the client goes on without waiting for it. `comesBack`: what is sent of them as of somebody new, once it is done. */
export type EraseStep = WayToErase & {
  owes?: true
  kind: 'erase'
  customer: string
  user: string
  by: 'customer' | 'user'
  comesBack: (UploadStep | InteractionStep)[]
}
/** The client looks whether its erasures are done, and sends those again who are taken as somebody new. */
export type LookStep = { owes?: true; kind: 'look' }
export type Step = UploadStep | InteractionStep | InteractionsStep | ImportStep | RetryStep | EraseStep | LookStep
/** What a client does, as long as it is asked. `lanes`: how many its organisation has. */
export type Plan = (name: string, random: Random, lanes: number) => Generator<Step>

export const uploadTypes = [...catalogue.uploads.keys()]
export const idFieldOf = (type: string): string => catalogue.uploads.get(type)?.id ?? ''

const ownTypes = ['shops', 'offers', 'branches', 'tags'] as const
type OwnType = (typeof ownTypes)[number]
const refersToShops: readonly OwnType[] = ['offers', 'branches']
const longEnough = '1h'
const mostRecords = 10
// With it a third of all records wait.
const shareOfChildrenFirst = 0.45

/**
 * What one client does, step by step, for as long as it is asked. Its ids are its own, so that the last value of each
 * is what it sent last. First come its shops: from then on offers, branches and interactions may refer to them. Now and then
 * it sends children before their shops, and sometimes newer ones of the same ids before the shops too.
 */
export function* planClient(name: string, random: Random): Generator<Step> {
  const idsOf = (count: number) => Array.from({ length: count }, random.uuid)
  const ids: Record<OwnType, string[]> = { shops: idsOf(4), offers: idsOf(12), branches: idsOf(12), tags: idsOf(4) }

  const plan = (type: OwnType, id: string, revision: number, coming: readonly string[]): Planned => {
    const waits = coming.length > 0 && random.chance(0.85)
    const isUnknown = coming.length === 0 && refersToShops.includes(type) && random.chance(0.12)
    const isInvalid = !isUnknown && random.chance(0.08)
    const record = {
      [idFieldOf(type)]: id,
      name: `${name} revision ${revision}`,
      ...(type !== 'tags' && { region: random.pick(['GB', 'DE', 'FR']) }),
      ...(refersToShops.includes(type) && {
        shop_id: isUnknown ? random.uuid() : random.pick(waits ? coming : ids.shops),
      }),
      ...(type === 'offers' && { type: 'fixed', value: revision + 0.5 }),
      ...(type === 'branches' && { latitude: revision % 90 }),
      ...(random.chance(0.15) && { is_deleted: true }),
    }
    if (isInvalid) return { id, expected: 'invalid', record: random.pick(spoilings)(record) }
    return { id, expected: waits ? 'waits' : isUnknown ? 'unknown_reference' : 'accepted', record }
  }
  let revision = -1
  const upload = (type: OwnType, chosen: string[], coming: readonly string[] = []): UploadStep => {
    revision++
    const records = chosen.map((id) => plan(type, id, revision, coming))
    return { kind: 'upload', type, key: `${name}-${revision}`, records }
  }
  const uploadSome = (type: OwnType, coming: readonly string[] = []): UploadStep =>
    upload(type, random.some(ids[type], random.int(coming.length > 0 ? 4 : 1, mostRecords)), coming)
  const uploadShops = (chosen: string[]): UploadStep => ({
    ...upload('shops', []),
    records: chosen.map((id) => shopOf(name, id)),
  })

  const someInteractions = (shops: string[]): InteractionStep[] =>
    Array.from({ length: random.int(1, mostRecords) }, () => interaction(name, ++revision, shops, random))
  const interactions = (each: InteractionStep[]): InteractionsStep => ({
    kind: 'interactions',
    key: `${name}-${++revision}`,
    each,
  })

  function* childrenFirst(): Generator<Step> {
    const coming = idsOf(random.int(1, 3))
    const type = random.pick(refersToShops)
    yield { ...uploadSome(type, coming), waits: longEnough, owes: true }
    if (random.chance(0.3)) {
      const early = interaction(name, ++revision, coming, random)
      // Without the wish where it is invalid, or what it refers to never comes: then it would wait for ever.
      yield early.expected === 'accepted'
        ? { ...early, expected: 'waits', waits: longEnough, owes: true }
        : { ...early, owes: true }
    }
    if (random.chance(0.2)) {
      const each = someInteractions(coming).filter(({ expected }) => expected !== 'unknown_reference')
      const early = each.map((one) => (one.expected === 'accepted' ? { ...one, expected: 'waits' as const } : one))
      if (early.length > 0) yield { ...interactions(early), waits: longEnough, owes: true }
    }
    if (random.chance(0.3)) yield { ...uploadSome(type), owes: true }
    yield uploadShops(coming)
  }

  yield uploadShops(ids.shops)
  while (true) {
    if (random.chance(0.4))
      yield random.chance(0.3)
        ? interactions(someInteractions(ids.shops))
        : interaction(name, ++revision, ids.shops, random)
    else if (random.chance(shareOfChildrenFirst)) yield* childrenFirst()
    else yield uploadSome(random.pick(ownTypes))
  }
}

const shopOf = (name: string, id: string): Planned => ({
  id,
  expected: 'accepted',
  record: { shop_id: id, name: `${name} revision 0`, region: 'GB' },
})

export const spoilings: ((record: Record<string, unknown>) => Record<string, unknown>)[] = [
  ({ name: _, ...record }) => record,
  (record) => ({ ...record, nmae: 'a field that does not exist' }),
  (record) => ({ ...record, is_deleted: 'no' }),
]

const interaction = (name: string, revision: number, shops: string[], random: Random): InteractionStep => {
  const marker = `${name}-${revision}`
  const expected = random.chance(0.1) ? 'unknown_reference' : random.chance(0.1) ? 'invalid' : 'accepted'
  return {
    kind: 'interaction',
    marker,
    key: random.chance(0.6) ? marker : null,
    expected,
    body: {
      interaction_type: expected === 'invalid' ? 'A_THING_UNHEARD_OF' : 'PAGE_VIEW',
      user_id: marker,
      item_type: 'SHOP',
      item_id: expected === 'unknown_reference' ? random.uuid() : random.pick(shops),
      event_timestamp: 1_750_000_000 + revision,
    },
  }
}
