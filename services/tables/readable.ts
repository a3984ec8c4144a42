import type { ClickHouse } from '#platform/clickhouse.js'
import { hasValue, type Received, type Valued } from '#platform/kafka/kafka.js'
import { createPauses } from '#platform/process/pauses.js'
import { NewerSchema, type Registry, schemaIdOf, Undecodable } from '#platform/registry.js'
import { fieldsOf } from '#platform/schema-fields.js'
import type { UnreadableMessage } from './destination.js'

/** Messages that can be inserted, and messages that have to be set aside, with the reason. Those without a value are in neither. */
export type Sorted = { readable: Valued[]; unreadable: UnreadableMessage[] }

/** Separates a topic's own events from foreign ones by schema alone. Fails where the table has no room for a schema's values. */
export const createSort = (
  registry: Pick<Registry, 'writerSchema'>,
  schemaName: string,
  findColumns: () => Promise<TableColumns>,
) => {
  /** The ids of schemas whose events can be inserted. */
  const own = new Set<number>()
  const checkSchema = async (id: number): Promise<void> => {
    const written = readSchema(await registry.writerSchema(id))
    const name = `${written.namespace}.${written.name}`
    if (name !== schemaName) throw new Undecodable(`written with the schema ${name} instead of ${schemaName}`)
    refuseLoss(written, await findColumns())
    own.add(id)
  }
  return (messages: readonly Received[]): Promise<Sorted> =>
    sortBy(messages, ({ value }) => {
      const id = schemaIdOf(value)
      return own.has(id) ? undefined : checkSchema(id)
    })
}

/** The columns that an insert into a table reaches, by name, with their types. */
export type TableColumns = { table: string; types: ReadonlyMap<string, string> }

/** Those of a table, and of the tables that are fed from it: a value arrives only where all of them have its column. */
export const createFindColumns =
  (clickhouse: Pick<ClickHouse, 'query'>, tables: readonly [string, ...string[]]) =>
  async (): Promise<TableColumns> => {
    const found = await clickhouse.query<{ name: string; type: string }>(
      `select name, any(type) as type
      from system.columns
      where concat(database, '.', table) in ({tables:Array(String)})
      group by name
      having count() = {count:UInt8}`,
      { tables, count: tables.length },
    )
    return { table: tables[0], types: new Map(found.map(({ name, type }) => [name, type])) }
  }

type Written = { namespace?: string; name?: string }

// A stranger's schema may be of another language than Avro.
const readSchema = (text: string): Written => {
  try {
    return (JSON.parse(text) ?? {}) as Written
  } catch (cause) {
    throw new Undecodable('written with a schema that is not Avro', { cause })
  }
}

const refuseLoss = (written: Written, { table, types }: TableColumns): void => {
  for (const [name, { kinds }] of fieldsOf(written)) {
    // What is inside of a column's value is ClickHouse's business.
    if (name.includes('.')) continue
    const type = types.get(name)
    const problem = type === undefined ? 'has no column' : 'takes no null'
    if (type === undefined || (kinds.includes('null') && !type.includes('Nullable(')))
      throw new NewerSchema(`${table} ${problem} for ${name}, which a newer version writes: run its "weir provision"`)
  }
}

/** Decodes every message, to find the ones that made an insert fail. */
export const createCloseLook = (decode: (message: Buffer) => Promise<unknown>) => (messages: readonly Received[]) =>
  sortBy(messages, ({ value }) => decode(value))

/** `check` throws Undecodable for what has to be set aside. It resolves later only where it has to: awaiting takes its time. */
const sortBy = async (
  messages: readonly Received[],
  check: (message: Valued) => Promise<unknown> | undefined,
): Promise<Sorted> => {
  const sorted: Sorted = { readable: [], unreadable: [] }
  const pause = createPauses()
  for (const message of messages) {
    // It says that a record is gone. Whoever publishes that takes the record out of the tables as well.
    if (!hasValue(message)) continue
    try {
      const checking = check(message)
      if (checking) {
        await checking
        await pause()
      }
      sorted.readable.push(message)
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error
      sorted.unreadable.push({ message, reason: error.message })
    }
  }
  return sorted
}
