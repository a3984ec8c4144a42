import type { Reader } from '#rejections/find-rejections.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { database, rejectionsLog } from '#schemas/derive/names.js'
import { personFieldsOf, typesOfPersons } from '#schemas/persons/about-persons.js'
import type { Problem } from '#schemas/problem.js'
import { isUuid } from '#schemas/uuid.js'
import { type KnownPerson, linkingTypeOf } from './who.js'

/** A refused record in which the person is named; the record is JSON as it was sent, or the beginning of it. */
export type KeptRefusal = {
  rejectedAt: number
  type: string
  id: string | null
  requestId: string
  batchId: string
  index: number
  problems: Problem[]
  record: string
  truncated: boolean
}

// Each may have 64 KiB.
const pageSize = 200

/** Refused records that name the person, the oldest first. */
export async function* keptRefusalsOf(
  { clickhouse, catalogue, page = pageSize }: { clickhouse: Reader; catalogue: Catalogue; page?: number },
  org: string,
  { customerIds, userIds, shared }: KnownPerson,
): AsyncGenerator<KeptRefusal, void, undefined> {
  const ids = [...new Set([...customerIds, ...userIds])]
  const userFields = typesOfPersons(catalogue).flatMap((type) =>
    personFieldsOf(type).flatMap(({ field, names }) => (names === 'user' ? [field] : [])),
  )
  const values = {
    org,
    most: page,
    // A refused record may name the person in a field that is not known, or in a line that is no record: a UUID is found wherever it stands. A
    // short text would be found in everything, so it has to be the value of the field.
    uuids: ids.filter(isUuid),
    texts: ids.filter((id) => !isUuid(id)),
    user_fields: [...new Set(userFields)],
    // Asked by a user_id that several customers have, the records of these customers are none of this person's, nor are refused ones.
    not_of: shared.some(({ userId }) => ids.includes(userId)) ? linkingTypeOf(catalogue).type.type : '',
  }
  let after: KeptRefusal | undefined
  do {
    const rows: KeptRefusal[] = await clickhouse.query<KeptRefusal>(
      `select toFloat64(toUnixTimestamp64Milli(rejected_at)) as rejectedAt, type, id, toString(request_id) as requestId,
        toString(batch_id) as batchId, index, problems, record, truncated
      from (
        select * from ${database}.${rejectionsLog}
        where org_id = {org:String} and type != {not_of:String} and (
          arrayExists(each -> positionCaseInsensitive(record, each) > 0 or lower(ifNull(id, '')) = each, {uuids:Array(String)})
          or arrayExists(each -> JSONExtractString(record, each) in {texts:Array(String)}, {user_fields:Array(String)})
        ) ${after ? behind : ''}
        order by rejected_at, batch_id, index
        limit 1 by rejected_at, batch_id, index
        limit {most:UInt32}
      )
      order by rejectedAt, batch_id, index`,
      {
        ...values,
        ...(after && { after: after.rejectedAt, after_batch: after.batchId, after_index: after.index }),
      },
    )
    yield* rows
    after = rows.length === page ? rows.at(-1) : undefined
  } while (after)
}

const behind = `and (rejected_at, batch_id, index) > (fromUnixTimestamp64Milli({after:Int64}, 'UTC'), {after_batch:UUID}, {after_index:UInt32})`
