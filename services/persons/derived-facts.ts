import type { Reader } from '#rejections/find-rejections.js'
import { database, ownMembersTable } from '#schemas/derive/names.js'
import { marts } from '#schemas/marts/all.js'
import type { KnownPerson } from './who.js'

/** What Weir made of the person's records by itself: a row of a mart, or a segment that the customer was found in. */
export type DerivedFact = { from: string; values: Record<string, unknown> }

// As the marts answer them: money is text, so that it stays exact.
const settings = {
  output_format_json_quote_decimals: 1,
  output_format_json_quote_64bit_integers: 0,
  date_time_output_format: 'iso',
}

/** The marts with a row for a customer. Those that are asked with values show the same of another moment. */
const martsOfCustomers = marts.filter(({ columns, asked }) => 'customer_id' in columns && !asked)

export const findDerivedFacts = async (
  clickhouse: Reader,
  org: string,
  { customerIds }: KnownPerson,
): Promise<DerivedFact[]> => {
  if (customerIds.length === 0) return []
  const values = { org, customers: customerIds }
  const where = 'where org_id = {org:String} and customer_id in {customers:Array(UUID)}'
  const facts: DerivedFact[] = []
  for (const { name } of martsOfCustomers) {
    const rows = await clickhouse.query<Record<string, unknown>>(
      `select * except (org_id) from ${database}.${name} ${where} order by customer_id`,
      values,
      settings,
    )
    facts.push(...rows.map((row) => ({ from: name, values: row })))
  }
  const members = await clickhouse.query<Record<string, unknown>>(
    `select customer_id, segment, since, if(ended = 1, toNullable(until), null) as until
    from ${database}.${ownMembersTable} final ${where}
    order by segment, since`,
    values,
    settings,
  )
  return [...facts, ...members.map((row) => ({ from: 'own_segments', values: row }))]
}
