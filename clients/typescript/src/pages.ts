import type { Call, CallOptions } from './call.js'

/** A moment, as ISO 8601 or as a Date. */
export type TimeGiven = string | Date

export type ListOptions = CallOptions & {
  /** How many are asked for at a time, 1 to 1000. It changes nothing about what comes. */
  pageSize?: number | undefined
}

/** Everything that a list has, page after page; a page is asked for when the one before it is used up. */
export async function* eachOf<Item>(
  call: Call,
  list: { path: string; name: string },
  filter: object,
  { pageSize, ...options }: ListOptions,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | null = null
  do {
    const path: string = list.path + queryOf({ ...filter, limit: pageSize, cursor })
    const { json } = await call({ method: 'GET', path }, options)
    const page = json as { [name: string]: unknown; next_cursor: string | null }
    yield* page[list.name] as Item[]
    cursor = page.next_cursor
  } while (cursor !== null)
}

/** A query string with what is given; what is null or undefined is left out. */
export const queryOf = (given: object): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && value !== null)
      query.set(name, value instanceof Date ? value.toISOString() : String(value))
  const text = query.toString()
  return text && `?${text}`
}
