import type { Received } from '#platform/kafka/kafka.js'
import { createBreathe } from '#platform/process/breathe.js'
import { type Registry, schemaIdOf, Undecodable } from '#platform/registry.js'

/** Messages that can be inserted, and messages that have to be set aside, with the reason. */
export type Sorted = { readable: Received[]; unreadable: { message: Received; reason: string }[] }

/**
 * Separates events of a topic's own schema from messages that another program wrote there with another schema: ClickHouse
 * would insert those as empty rows. Looks at the schema's name only, so that no event is decoded.
 */
export const createSort = (registry: Pick<Registry, 'writerSchema'>, schemaName: string) => {
  const names = new Map<number, string>()
  const nameOf = async (id: number): Promise<string> => {
    const known = names.get(id)
    if (known !== undefined) return known
    const { namespace, name } = JSON.parse(await registry.writerSchema(id)) as { namespace?: string; name?: string }
    names.set(id, `${namespace}.${name}`)
    return `${namespace}.${name}`
  }
  const check = async (message: Received): Promise<void> => {
    const name = await nameOf(schemaIdOf(message.value))
    if (name !== schemaName) throw new Undecodable(`written with the schema ${name} instead of ${schemaName}`)
  }
  return (messages: readonly Received[]): Promise<Sorted> => sortBy(messages, check)
}

/** Decodes every message, to find the ones that made an insert fail. */
export const createCloseLook = (decode: (message: Buffer) => Promise<unknown>) => (messages: readonly Received[]) =>
  sortBy(messages, ({ value }) => decode(value))

const sortBy = async (
  messages: readonly Received[],
  check: (message: Received) => Promise<unknown>,
): Promise<Sorted> => {
  const sorted: Sorted = { readable: [], unreadable: [] }
  const breathe = createBreathe()
  for (const message of messages) {
    await breathe()
    try {
      await check(message)
      sorted.readable.push(message)
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error
      sorted.unreadable.push({ message, reason: error.message })
    }
  }
  return sorted
}
