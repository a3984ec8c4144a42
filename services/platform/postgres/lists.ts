// Lists as Postgres reads them. The client looks at every character of every value, which costs most of a large statement.

const uuidLength = 36

/** For `uuid[]`. Where one of them cannot be a uuid, the list is left to the client, and to Postgres to refuse. */
export const uuidList = (ids: readonly string[]): string | readonly string[] =>
  // Of this length, nothing that is cut in two by a comma has a uuid on either side.
  ids.every(({ length }) => length === uuidLength) ? `{${ids.join(',')}}` : ids

/** For `text[]`. Fast where the same text comes many times in a row. */
export const textList = (texts: readonly string[]): string => {
  let last: string | undefined
  let written = ''
  const all = texts.map((text) => {
    if (text !== last) {
      last = text
      written = `"${text.replaceAll(/["\\]/g, '\\$&')}"`
    }
    return written
  })
  return `{${all.join(',')}}`
}

/** For `integer[]` and `bigint[]`. */
export const numberList = (numbers: readonly number[]): string => `{${numbers.join(',')}}`
