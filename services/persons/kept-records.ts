import { eventColumns } from '#feeds/read-tables.js'
import type { Reader } from '#rejections/find-rejections.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { quote } from '#schemas/derive/clickhouse/columns.js'
import { database, logTableOf } from '#schemas/derive/names.js'
import type { AcceptedEvent } from '#schemas/events.js'
import { personFieldsOf, typesOfPersons } from '#schemas/persons/about-persons.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import { isUuid } from '#schemas/uuid.js'
import { type KnownPerson, linkingTypeOf } from './who.js'

/** A version of a record that names the person; whether it is the newest of that record. */
export type KeptVersion = { type: RecordType; event: AcceptedEvent; isCurrent: boolean }

// So many are in memory at once, however many there are: some megabytes. Each page begins where the one before ended, by the table's own key.
// 300 000 of 900 000 interactions took 43 s in pages of 10 000 and 73 s in pages of 2000, on a busy machine with two cores.
const pageSize = 10_000

/** Every version that is kept of every record that names the person: type by type, the versions of one record one after another. */
export async function* keptVersionsOf(
  { clickhouse, catalogue, page = pageSize }: { clickhouse: Reader; catalogue: Catalogue; page?: number },
  org: string,
  person: KnownPerson,
): AsyncGenerator<KeptVersion, void, undefined> {
  const linking = linkingTypeOf(catalogue).type
  for (const type of typesOfPersons(catalogue)) {
    const named = namingOf(type, person, type === linking)
    if (!named) continue
    let after: AcceptedEvent | undefined
    do {
      const rows = await findPage(clickhouse, { org, type, named, after, most: page })
      for (const { is_current, ...event } of rows)
        yield { type, event: event as AcceptedEvent, isCurrent: Boolean(is_current) }
      after = rows.length === page ? rows.at(-1) : undefined
    } while (after)
  }
}

type Naming = { condition: string; values: Record<string, unknown> }

/** Which rows of a type name the person; undefined where none can. `isLinking`: that a customer is this user is known already. */
const namingOf = (type: RecordType, { customerIds, userIds }: KnownPerson, isLinking: boolean): Naming | undefined => {
  const conditions = personFieldsOf(type).flatMap(({ field, names }) => {
    if (names === 'customer') return customerIds.length > 0 ? [`${quote(field)} in {customers:Array(UUID)}`] : []
    if (isLinking) return []
    // Where a user_id is a text, a UUID may stand in it in upper case.
    const isText = type.fields[field]?.kind === 'text'
    if (isText)
      return [`(${quote(field)} in {users:Array(String)} or lower(${quote(field)}) in {user_uuids:Array(String)})`]
    return userIds.some(isUuid) ? [`${quote(field)} in {user_uuids:Array(UUID)}`] : []
  })
  if (conditions.length === 0) return undefined
  const values = { customers: customerIds, users: userIds, user_uuids: userIds.filter(isUuid) }
  const used = Object.entries(values).filter(([name]) => conditions.some((each) => each.includes(`{${name}:`)))
  return { condition: conditions.join(' or '), values: Object.fromEntries(used) }
}

type PageRow = AcceptedEvent & { is_current: boolean | number }

const findPage = (
  clickhouse: Reader,
  asked: { org: string; type: RecordType; named: Naming; after: AcceptedEvent | undefined; most: number },
): Promise<PageRow[]> => {
  const { org, type, named, after, most } = asked
  const log = `${database}.${logTableOf(type.type)}`
  const key = keyOf(type)
  const columns = key.map(({ column }) => column).join(', ')
  const behind = after ? `and (${columns}) > (${key.map(({ value }) => value).join(', ')})` : ''
  const id = quote(type.id)
  // Not with `final`, which would merge all of an organisation; a row that is there twice is taken once.
  const page = `select * from ${log}
    where org_id = {org:String} and (${named.condition}) ${behind}
    order by ${columns}
    limit 1 by ${columns}
    limit {most:UInt32}`
  // The newest version may name somebody else by now, so it is looked for among all versions of the records of the page.
  const isCurrent = hasVersions(type)
    ? `(${id}, version) in (
        select ${id}, max(version) from ${log}
        where org_id = {org:String} and ${id} in (select ${id} from (${page}))
        group by ${id}
      )`
    : 'true'
  return clickhouse.query<PageRow>(
    `select ${eventColumns(type)}, is_current
    from (select *, ${isCurrent} as is_current from (${page}))
    order by ${columns}`,
    {
      ...{ org, most },
      ...named.values,
      ...(after && Object.fromEntries(key.map(({ name }, place) => [`after${place}`, after[name]]))),
    },
    { optimize_read_in_order: 1 },
  )
}

/** What tells a version from others, in the order of the table's own key. */
const keyOf = (type: RecordType): { name: string; column: string; value: string }[] => {
  const moments = Object.entries(type.fields).flatMap(([name, { kind }]) => (kind === 'moment' ? [name] : []))
  const names = hasVersions(type) ? [type.id, 'version'] : [...moments, type.id]
  return names.map((name, place) => ({ name, column: quote(name), value: placeholderOf(name, place, type) }))
}

const placeholderOf = (name: string, place: number, type: RecordType): string => {
  if (name === type.id) return `{after${place}:UUID}`
  return name === 'version' ? `{after${place}:UInt64}` : `fromUnixTimestamp64Milli({after${place}:Int64}, 'UTC')`
}
