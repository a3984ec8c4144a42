import { findWaitsWith, type KeptWait } from '#ledger/waiting/of-persons.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { submittedSchema } from '#schemas/derive/avro.js'
import { createRecordWriter } from '#schemas/derive/written-record.js'
import type { SubmittedBatch } from '#schemas/events.js'
import { personFieldsOf, typesOfPersons } from '#schemas/persons/about-persons.js'
import type { RecordType } from '#schemas/record.js'
import { isUuid } from '#schemas/uuid.js'
import type { KnownPerson } from './who.js'

/** A record that waits and names the person. */
export type WaitOfPerson = Omit<KeptWait, 'message'> & { record: Record<string, unknown> }

const pageSize = 100
// To look through a million of them takes seconds.
const queryTimeout = 60_000

/** Records of the person that wait for what they refer to: they are in no table of ClickHouse yet. */
export async function* waitsOfPerson(
  { pool, decoders, catalogue }: { pool: Pool; decoders: Pick<Registry, 'decoder'>; catalogue: Catalogue },
  org: string,
  person: KnownPerson,
): AsyncGenerator<WaitOfPerson, void, undefined> {
  const types = typesOfPersons(catalogue)
  const ids = [...new Set([...person.customerIds, ...person.userIds])]
  const asked = {
    orgId: org,
    types: types.map(({ type }) => type),
    uuids: ids.filter(isUuid),
    texts: ids.filter((id) => !isUuid(id)),
  }
  const reads = new Map(types.map((type) => [type.type, createReadRecord(type, decoders)]))
  let after: KeptWait | undefined
  do {
    const page: KeptWait[] = await inTransaction(pool, (db) => findWaitsWith(db, asked, { after, limit: pageSize }), {
      queryTimeout,
    })
    for (const { message, ...wait } of page) {
      const record = await reads.get(wait.type)?.(message)
      const type = catalogue.all.get(wait.type)
      if (record && type && isNamedIn(type, record, person)) yield { ...wait, record }
    }
    after = page.length === pageSize ? page.at(-1) : undefined
  } while (after)
}

/** A record that waits is kept as a submitted batch of its own. */
const createReadRecord = (type: RecordType, decoders: Pick<Registry, 'decoder'>) => {
  const decode = decoders.decoder<SubmittedBatch>(submittedSchema(type), { whole: true })
  const write = createRecordWriter(type)
  return async (message: Buffer): Promise<Record<string, unknown>> => {
    const [values = {}] = (await decode(message)).records
    return write(values as Record<string, unknown>)
  }
}

const isNamedIn = (type: RecordType, record: Record<string, unknown>, { customerIds, userIds }: KnownPerson): boolean =>
  personFieldsOf(type).some(({ field, names }) => {
    const value = record[field]
    if (typeof value !== 'string') return false
    const id = isUuid(value) ? value.toLowerCase() : value
    return (names === 'customer' ? customerIds : userIds).includes(id)
  })
