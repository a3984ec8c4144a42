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

export type FindPersons = (orgId: string, ids: readonly string[]) => Promise<Map<string, KnownPerson>>

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

// They are sent with the address of a request, of which ClickHouse takes a megabyte: these are a quarter of it.
const mostAtOnce = 5_000

/**
 * Whom ids name. All versions of customers count, former ones and deleted ones too: a user_id that was another customer's once may have been
 * that one's when something was kept under it. Many are looked up together, since who has a user_id is found by reading all customers.
 */
export const createFindPersons = (clickhouse: Reader, catalogue: Catalogue): FindPersons => {
  const { type, user } = linkingTypeOf(catalogue)
  const log = `${database}.${logTableOf(type.type)}`
  const [customerColumn, userColumn] = [quote(type.id), quote(user)]

  const findUsersOf = async (org: string, customers: readonly string[]): Promise<Map<string, string[]>> => {
    const rows = await clickhouse.query<{ customer: string; users: string[] }>(
      `select toString(${customerColumn}) as customer, arraySort(groupUniqArray(toString(${userColumn}))) as users
      from ${log}
      where org_id = {org:String} and ${customerColumn} in {customers:Array(UUID)}
      group by ${customerColumn}`,
      { org, customers },
    )
    return new Map(rows.map(({ customer, users }) => [customer, users]))
  }
  /** How many customers have each of these users, and one of them. */
  const findHolders = async (org: string, users: readonly string[]): Promise<Map<string, Holders>> => {
    const rows = await clickhouse.query<Holders & { id: string }>(
      `select toString(${userColumn}) as id, toUInt32(uniqExact(${customerColumn})) as customers, toString(any(${customerColumn})) as one
      from ${log}
      where org_id = {org:String} and ${userColumn} in {users:Array(UUID)}
      group by ${userColumn}`,
      { org, users },
    )
    return new Map(rows.map((row) => [row.id, row]))
  }
  /** The users of customers, and who else has them or has one of these ids as a user. */
  const findLinks = async (org: string, customers: readonly string[], ids: readonly string[]): Promise<Links> => {
    const users: Links['users'] = new Map()
    const holders: Links['holders'] = new Map()
    for (const some of inParts(customers))
      for (const [customer, own] of await findUsersOf(org, some)) users.set(customer, own)
    for (const some of inParts([...new Set([...ids, ...[...users.values()].flat()])]))
      for (const [id, held] of await findHolders(org, some)) holders.set(id, held)
    return { users, holders }
  }

  return async (org, ids) => {
    // A user_id of an interaction may be any text, of which no customer is known.
    const asked = [...new Set(ids.filter(isUuid).map((id) => id.toLowerCase()))]
    const links = await findLinks(org, asked, asked)
    // Asked by the user_id of one customer, it is that customer.
    const customerOf = (id: string): string => {
      const held = links.users.has(id) ? undefined : links.holders.get(id)
      return held?.customers === 1 ? held.one : id
    }
    const others = asked.flatMap((id) =>
      customerOf(id) === id || links.users.has(customerOf(id)) ? [] : [customerOf(id)],
    )
    const more = await findLinks(org, [...new Set(others)], [])
    const all = {
      users: new Map([...links.users, ...more.users]),
      holders: new Map([...links.holders, ...more.holders]),
    }
    return new Map(ids.map((id) => [id, isUuid(id) ? personOf(id, customerOf(id.toLowerCase()), all) : textOf(id)]))
  }
}

type Holders = { customers: number; one: string }
type Links = { users: Map<string, string[]>; holders: Map<string, Holders> }

const inParts = (ids: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(ids.length / mostAtOnce) }, (_, n) => ids.slice(n * mostAtOnce, (n + 1) * mostAtOnce))

/** Customers may be asked for by either id. */
const personOf = (id: string, customer: string, { users, holders }: Links): KnownPerson => {
  const asked = id.toLowerCase()
  const ofAsked = users.has(asked) ? undefined : holders.get(asked)
  if (ofAsked && ofAsked.customers > 1)
    return { id, customerIds: [asked], userIds: [asked], shared: [{ userId: asked, customers: ofAsked.customers }] }
  const named = [...new Set([...(users.get(customer) ?? []), asked])]
  const isOwn = (userId: string): boolean => {
    const found = holders.get(userId)
    return !found || (found.customers === 1 && found.one === customer)
  }
  return {
    id,
    customerIds: [...new Set([customer, asked])],
    userIds: named.filter(isOwn),
    shared: named
      .filter((each) => !isOwn(each))
      .map((userId) => ({ userId, customers: holders.get(userId)?.customers ?? 0 })),
  }
}

const textOf = (id: string): KnownPerson => ({ id, customerIds: [], userIds: id.trim() === '' ? [] : [id], shared: [] })
