import type { Gate } from '#ledger/erasures/gates.js'
import { createIsErased } from '#ledger/erasures/is-erased.js'
import { partitionOf, partitionOfLane } from '#platform/kafka/partitions.js'
import { nobodys } from '#schemas/decide.js'
import { submittedTopic } from '#schemas/derive/names.js'
import type { SubmittedBatch, SubmittedRecord } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { branch } from '#schemas/records/branch.js'
import { customer } from '#schemas/records/customer.js'
import { interaction } from '#schemas/records/interaction.js'
import { offer } from '#schemas/records/offer.js'
import { shop } from '#schemas/records/shop.js'
import { transaction } from '#schemas/records/transaction.js'
import type { Log } from './log.js'
import type { Rules } from './rules.js'

/**
 * A type that is referred to, two that refer to it, of which one is referred to itself, and the one whose records carry keys of
 * their own; one whose ids are persons', and one whose records name somebody, nobody, and later maybe somebody else.
 */
export const types: ReadonlyMap<string, RecordType> = new Map(
  [shop, branch, offer, interaction, customer, transaction].map((t) => [t.type, t]),
)
export const partitions = 2

/** A record as the history draws it: few ids, so that they meet. `refers` is the shop that it names, or the offer. */
export type Drawn = {
  id: number
  refers: number
  isDeleted: boolean
  isInvalid: boolean
  key: number | undefined
  person: number | undefined
}
export type Upload = { org: string; type: string; key: number | undefined; wait: number | undefined; records: Drawn[] }

/** `isForgotten`: the request was pruned. It is not sent again, since it would count as new. `gates`: whom Postgres has as erased. */
type EdgeDeps = {
  lanes: number
  now: () => number
  isForgotten: (requestId: string) => boolean
  gates: () => ReadonlyMap<string, Gate>
}

/**
 * Every edge at once: they share nothing but the log. An edge can append a batch; append the same batch again at any time later
 * (a send that was retried, a client that sends its key again); or append another body under the same key.
 */
export const createEdge = (
  log: Log<SubmittedBatch>,
  { lanes, laneOf, now, isForgotten, gates }: EdgeDeps & Pick<Rules, 'laneOf'>,
  note: (line: string) => void,
) => {
  const sent: { topic: string; partition: number; batch: SubmittedBatch }[] = []
  let requests = 0
  /** What this edge has seen of them. */
  let known: ReadonlyMap<string, Gate> = new Map()

  /** As services/edge/stream/hide-erased.ts. */
  const hide = (topic: string, batch: SubmittedBatch): SubmittedBatch => {
    const gate = known.get(batch.org_id)
    const type = types.get(topic.slice(submittedTopic('').length))
    if (!gate || !type) return batch
    const isErased = createIsErased(type, gate)
    const hidden = (index: number) => ({ ...nobodys(index), record: '{}', truncated: false })
    return {
      ...batch,
      records: batch.records.filter((record) => !isErased(record)),
      refusals: [
        ...batch.refusals.map((refusal) => (isErased(refusal.record) ? hidden(refusal.index) : refusal)),
        ...batch.records.filter((record) => isErased(record)).map(({ index }) => hidden(index)),
      ].sort((a, b) => a.index - b.index),
    }
  }
  const append = (topic: string, partition: number, given: SubmittedBatch): void => {
    const batch = hide(topic, given)
    const offset = log.append(topic, partition, batch)
    note(`edge appends ${batch.batch_id} at ${topic}/${partition}@${offset}: ${contentOf(batch)}`)
  }
  return {
    /** Sees who was erased by now. */
    look: (): void => {
      known = gates()
    },
    submit: ({ org, type, key, wait, records }: Upload): void => {
      const time = now()
      const topic = submittedTopic(type)
      const body = requests++
      const request = `${org}/${type}/${key === undefined ? `request-${body}` : `request-of-key-${key}`}`
      if (isForgotten(request)) return
      const entries = records.map((drawn, place): Sent => {
        if (drawn.isInvalid) return { place, refusal: refusalOf(type, place, drawn) }
        return { place, record: recordOf(type, drawn, place, body) }
      })
      // Of interactions only those with keys of their own have to meet: the others go anywhere together.
      const partitionFor = ({ record, refusal }: Sent): number => {
        const id = record ? String(record[types.get(type)?.id ?? '']) : (refusal?.id ?? null)
        if (type !== 'interactions') return partitionOfLane(org, laneOf(id, lanes, body), partitions)
        return partitionOf(record?.keyed_sha256 && id ? id : request, partitions)
      }
      const groups = new Map<number, Sent[]>()
      for (const entry of entries) {
        const partition = partitionFor(entry)
        groups.set(partition, [...(groups.get(partition) ?? []), entry])
      }
      let before = 0
      for (const [n, [partition, group]] of [...groups].entries()) {
        const first = group[0]?.place ?? 0
        const batch: SubmittedBatch = {
          org_id: org,
          request_id: request,
          // As batchIdOf in schemas/uuid.ts: another count under the same key is another batch.
          batch_id: `${request}/${before}+${group.length}`,
          batch: n + 1,
          batches: groups.size,
          first_index: first,
          submitted_at: time,
          body_sha256: Buffer.from([body]),
          records: group.flatMap(({ place, record }) => (record ? [{ ...record, index: place - first }] : [])),
          refusals: group.flatMap(({ place, refusal }) => (refusal ? [{ ...refusal, index: place - first }] : [])),
          wait_until: wait === undefined ? null : time + wait,
        }
        before += group.length
        sent.push({ topic, partition, batch })
        append(topic, partition, batch)
      }
    },
    submitAgain: (pick: number): void => {
      const again = sent[pick % sent.length]
      if (again && !isForgotten(again.batch.request_id)) append(again.topic, again.partition, again.batch)
    },
  }
}

/** A record of a request as it is sent, and its place there. */
type Sent = { place: number; record?: SubmittedRecord; refusal?: SubmittedBatch['refusals'][number] }

const recordOf = (type: string, drawn: Drawn, index: number, body: number): SubmittedRecord => {
  const { id, refers, isDeleted, key, person } = drawn
  switch (type) {
    case 'shops':
      return { index, keyed_sha256: null, shop_id: `s${id}`, name: `v${body}.${index}`, is_deleted: isDeleted }
    case 'customers':
      return {
        index,
        keyed_sha256: null,
        customer_id: `p${id}`,
        user_id: `p${id}`,
        region: `v${body}.${index}`,
        is_deleted: isDeleted,
      }
    case 'transactions':
      return {
        index,
        keyed_sha256: null,
        transaction_id: `t${id}`,
        shop_id: `s${refers}`,
        region: `v${body}.${index}`,
        ...(person === undefined ? {} : { student_id: `p${person}` }),
        is_deleted: isDeleted,
      }
    case 'branches':
    case 'offers':
      return {
        index,
        keyed_sha256: null,
        ...(type === 'branches' ? { branch_id: `b${id}` } : { offer_id: `o${id}` }),
        shop_id: `s${refers}`,
        name: `v${body}.${index}`,
        is_deleted: isDeleted,
      }
    default:
      return {
        index,
        // The body of an interaction is what it refers to: the same key and item is a repeat, another item a conflict.
        keyed_sha256: key === undefined ? null : Buffer.from([refers, id]),
        interaction_id: key === undefined ? `i${body}.${index}` : `i-of-key-${key}`,
        recorded_at: body,
        ...(person === undefined ? {} : { user_id: `p${person}` }),
        // Of an interaction the id is its own, and the one that was drawn says what it refers to.
        ...(id === 0 ? { item_type: 'OFFER', item_id: `o${refers}` } : { item_type: 'SHOP', item_id: `s${refers}` }),
        event_timestamp: body,
      }
  }
}

/** What the edge refuses mostly has an id, and that is then of a newer version of the record. */
const refusedIdOf = (type: string, { id, isDeleted }: Drawn): string | null =>
  isDeleted || type === 'interactions' ? null : `${type === 'customers' ? 'p' : type.charAt(0)}${id}`

const refusalOf = (type: string, index: number, drawn: Drawn): SubmittedBatch['refusals'][number] => ({
  index,
  id: refusedIdOf(type, drawn),
  problems: [{ field: 'name', code: 'missing_field', message: 'name is required' }],
  record: JSON.stringify(namesOf(recordOf(type, drawn, index, 0)).length > 0 ? recordOf(type, drawn, index, 0) : {}),
  truncated: false,
})

/** Whom a record names: as the model's own check of what is left, it shares nothing with the rules that it checks. */
export const namesOf = (record: Readonly<Record<string, unknown>>): string[] =>
  [record.customer_id, record.student_id, record.user_id].flatMap((name) => (typeof name === 'string' ? [name] : []))

const contentOf = ({ records, refusals, wait_until }: SubmittedBatch): string =>
  [
    ...(wait_until ? [`until ${wait_until}`] : []),
    ...records.map((r) => {
      const id = String(r.interaction_id ?? r.branch_id ?? r.offer_id ?? r.transaction_id ?? r.customer_id ?? r.shop_id)
      const to = r.item_id ?? (id === r.shop_id ? undefined : r.shop_id)
      const whose = namesOf(r)[0]
      return `${id}${to ? `→${to}` : ''}${whose && whose !== id ? ` of ${whose}` : ''}${r.is_deleted ? ' deleted' : ''}`
    }),
    ...refusals.map(({ index }) => `#${index} invalid`),
  ].join(', ')

export type Edge = ReturnType<typeof createEdge>
