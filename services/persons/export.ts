import { toShown } from '#feeds/event-json.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Registry } from '#platform/registry.js'
import type { Reader } from '#rejections/find-rejections.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { AnswerOf } from '#schemas/endpoints/endpoint.js'
import type { exportPerson } from '#schemas/endpoints/persons/persons.js'
import { asJson } from '#schemas/json-text.js'
import { elsewhereOf } from '#schemas/persons/elsewhere.js'
import { findDerivedFacts } from './derived-facts.js'
import { keptVersionsOf } from './kept-records.js'
import { type KeptRefusal, keptRefusalsOf } from './kept-refusals.js'
import { type WaitOfPerson, waitsOfPerson } from './kept-waits.js'
import { createFindPersons, type KnownPerson } from './who.js'

/** What an export answers, as its endpoint declares it. */
export type WrittenExport = AnswerOf<typeof exportPerson>
type Head = Pick<WrittenExport, 'person' | 'exported_at' | 'elsewhere'>

/** One thing that is kept of a person, and in which list of the answer it stands. */
export type KeptThing = {
  [List in 'records' | 'refused' | 'waiting' | 'derived']: { list: List; thing: WrittenExport[List][number] }
}[keyof Pick<WrittenExport, 'records' | 'refused' | 'waiting' | 'derived'>]

/** What comes before the things, and the things list by list, read as they are taken: a person may have a million interactions. */
export type OpenExport = { head: Head; things: AsyncIterable<KeptThing> }

/** Undefined where nothing is kept of such a person. */
export type OpenPersonExport = (orgId: string, id: string) => Promise<OpenExport | undefined>

export const createPersonExport = (deps: {
  catalogue: Catalogue
  clickhouse: Reader
  pool: Pool
  decoders: Pick<Registry, 'decoder'>
  now: () => number
}): OpenPersonExport => {
  const { catalogue, clickhouse } = deps
  const findPersons = createFindPersons(clickhouse, catalogue)

  return async (org, id) => {
    const [person] = (await findPersons(org, [id])).values()
    if (!person) return undefined
    return open(org, person)
  }

  async function open(org: string, person: KnownPerson): ReturnType<OpenPersonExport> {
    async function* all(): AsyncGenerator<KeptThing, void, undefined> {
      for await (const { type, event, isCurrent } of keptVersionsOf({ clickhouse, catalogue }, org, person))
        yield { list: 'records', thing: { ...toShown({ type, event }), is_current: isCurrent } }
      for await (const refusal of keptRefusalsOf({ clickhouse, catalogue }, org, person))
        yield { list: 'refused', thing: refusalAnswer(refusal) }
      for await (const wait of waitsOfPerson(deps, org, person)) yield { list: 'waiting', thing: waitAnswer(wait) }
      for (const fact of await findDerivedFacts(clickhouse, org, person)) yield { list: 'derived', thing: fact }
    }
    const things = all()
    // Only with the first of them it is known that there is any, and what fails before is an error that can still be answered.
    const first = await things.next()
    if (first.done) return undefined
    return {
      head: {
        person: {
          id: person.id,
          customer_ids: person.customerIds,
          user_ids: person.userIds,
          not_followed: person.shared.map(({ userId, customers }) => ({ user_id: userId, customers })),
        },
        exported_at: new Date(deps.now()).toISOString(),
        elsewhere: elsewhereOf(catalogue),
      },
      things: from(first.value, things),
    }
  }
}

/** The rest ends with whoever takes it: what is not asked for any more is not read. */
async function* from(first: KeptThing, rest: AsyncGenerator<KeptThing, void, undefined>): AsyncIterable<KeptThing> {
  try {
    yield first
    yield* rest
  } finally {
    await rest.return()
  }
}

const refusalAnswer = ({ type, id, requestId, rejectedAt, problems, record, truncated }: KeptRefusal) => ({
  type,
  id,
  request_id: requestId,
  rejected_at: new Date(rejectedAt),
  problems,
  // As it was sent; of one that was too large, the text of its beginning.
  record: truncated ? record : asJson(record),
  truncated: Boolean(truncated),
})

const waitAnswer = ({ type, id, requestId, since, until, missing, record }: WaitOfPerson) => ({
  ...{ type, id, request_id: requestId, since, until },
  for: missing,
  record,
})
