import type { Reader } from '#rejections/find-rejections.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { quote } from '#schemas/derive/clickhouse/columns.js'
import { database, logTableOf } from '#schemas/derive/names.js'
import { personFieldsOf } from '#schemas/persons/about-persons.js'
import type { RecordType } from '#schemas/record.js'
import { isUuid } from '#schemas/uuid.js'

/** A user_id that several customers have, or had: what is kept under it cannot be said to be about one of them. */
export type SharedUser = { userId: string; customers: number }

/** The names under which records are about one person. */
export type KnownPerson = {
  /** As it was asked for. */
  id: string
  /** In lower case. */
  customerIds: string[]
  /** Those that belong to this customer alone; in lower case where they are UUIDs. */
  userIds: string[]
  /** Not among them. */
  shared: SharedUser[]
}

export type FindPerson = (orgId: string, id: string) => Promise<KnownPerson>

/** The type whose records say which customer is which user. */
export const linkingTypeOf = (catalogue: Catalogue): { type: RecordType; user: string } => {
  for (const type of catalogue.all.values()) {
    const fields = personFieldsOf(type)
    const user = fields.find(({ names }) => names === 'user')
    if (user && fields.some(({ field, names }) => field === type.id && names === 'customer'))
      return { type, user: user.field }
  }
  throw new Error('no type says which customer is which user')
}

/**
 * Whom an id names. All versions of customers count, former ones and deleted ones too: a user_id that was another customer's once may
 * have been that one's when something was kept under it.
 */
export const createFindPerson = (clickhouse: Reader, catalogue: Catalogue): FindPerson => {
  const { type, user } = linkingTypeOf(catalogue)
  const log = `${database}.${logTableOf(type.type)}`
  const [customerColumn, userColumn] = [quote(type.id), quote(user)]

  const findUsersOf = async (org: string, customer: string): Promise<string[]> => {
    const rows = await clickhouse.query<{ id: string }>(
      `select distinct toString(${userColumn}) as id from ${log}
      where org_id = {org:String} and ${customerColumn} = {customer:UUID} order by id`,
      { org, customer },
    )
    return rows.map(({ id }) => id)
  }
  /** How many customers have each of these users, and one of them. */
  const findHolders = async (org: string, users: readonly string[]) => {
    const rows = await clickhouse.query<{ id: string; customers: number; one: string }>(
      `select toString(${userColumn}) as id, toUInt32(uniqExact(${customerColumn})) as customers, toString(any(${customerColumn})) as one
      from ${log}
      where org_id = {org:String} and ${userColumn} in {users:Array(UUID)}
      group by ${userColumn}`,
      { org, users },
    )
    return new Map(rows.map((row) => [row.id, row]))
  }

  return async (org, id) => {
    if (id.trim() === '') return { id, customerIds: [], userIds: [], shared: [] }
    // A user_id of an interaction may be any text, of which no customer is known.
    if (!isUuid(id)) return { id, customerIds: [], userIds: [id], shared: [] }
    const asked = id.toLowerCase()
    const ownUsers = await findUsersOf(org, asked)
    const holders = await findHolders(org, [asked, ...ownUsers])
    const ofAsked = holders.get(asked)
    if (ownUsers.length === 0 && ofAsked && ofAsked.customers > 1)
      return { id, customerIds: [asked], userIds: [asked], shared: [{ userId: asked, customers: ofAsked.customers }] }

    // Asked by the user_id of one customer, it is that customer. Customers may be asked for by either id.
    const customer = ownUsers.length === 0 && ofAsked ? ofAsked.one : asked
    const users = customer === asked ? ownUsers : await findUsersOf(org, customer)
    const all = customer === asked ? holders : await findHolders(org, [asked, ...users])
    const named = [...new Set([...users, asked])]
    const isOwn = (userId: string): boolean => {
      const found = all.get(userId)
      return !found || (found.customers === 1 && found.one === customer)
    }
    return {
      id,
      customerIds: [...new Set([customer, asked])],
      userIds: named.filter(isOwn),
      shared: named
        .filter((each) => !isOwn(each))
        .map((userId) => ({ userId, customers: all.get(userId)?.customers ?? 0 })),
    }
  }
}
