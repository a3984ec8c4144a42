// What a tool answers goes into an assistant's memory, which is small and shared with everything else it has to know.

export const mostCharacters = 20_000
const mostOfText = 1_000

type Answer = Readonly<Record<string, unknown>>

/** An answer as text that is short enough: of its longest list as many items as fit, and how to get the others. */
export const boundedText = (answer: Answer, narrower: string, most = mostCharacters): string => {
  const shortened = shorten(answer) as Answer
  const whole = JSON.stringify(shortened)
  if (whole.length <= most) return whole
  const [name, items] = longestList(shortened)
  if (items.length > 0) {
    const cutTo = (count: number): string => JSON.stringify(withFirst(shortened, name, items, count, narrower))
    let count = items.length
    while (count > 0 && cutTo(count).length > most) count = Math.floor(count * 0.8)
    if (count > 0) return cutTo(count)
  }
  return `${whole.slice(0, most)}… [cut off here: it has ${whole.length} characters; ${narrower}]`
}

const withFirst = (
  answer: Answer,
  name: string,
  items: readonly unknown[],
  count: number,
  narrower: string,
): Answer => {
  const { next_cursor: next, ...rest } = answer
  // A page's cursor leads behind all of its items, those that are left out too.
  const isPage = typeof next === 'string' || next === null
  const paging = isPage ? `; ask with limit ${count} to go on behind them by its next_cursor` : ''
  const cut = `only the first ${count} of ${items.length} ${name} are here, the others would be too long: ${narrower}${paging}`
  return { ...rest, [name]: items.slice(0, count), cut }
}

const longestList = (answer: Answer): [string, readonly unknown[]] => {
  const lists = Object.entries(answer).filter((entry): entry is [string, unknown[]] => Array.isArray(entry[1]))
  const bySize = lists.sort(([, one], [, other]) => JSON.stringify(other).length - JSON.stringify(one).length)
  return bySize[0] ?? ['', []]
}

/** No text in it is long: one that was sent in a record may have a megabyte. */
const shorten = (value: unknown): unknown => {
  if (typeof value === 'string' && value.length > mostOfText)
    return `${value.slice(0, mostOfText)}… [cut off here: it has ${value.length} characters]`
  if (Array.isArray(value)) return value.map(shorten)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inside]) => [name, shorten(inside)]))
}
