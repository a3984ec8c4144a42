/** What a client prefers, of what we know how to honour. */
export type Preferences = {
  respondAsync: boolean
  /** Seconds that it would wait for the outcome all the same. */
  wait: number | undefined
}

// A day: longer than anybody waits, and far from where a timer overflows.
const longestWait = 86_400

/** Reads a Prefer header as RFC 7240 has it: names in any case, the first of a name counts, what is unknown is ignored. */
export const readPrefer = (header: string | string[] | undefined): Preferences => {
  const given = new Map<string, string>()
  for (const preference of [header ?? []].flat().flatMap(listed)) {
    const [name = '', ...value] = preference.split('=')
    const key = name.trim().toLowerCase()
    if (!given.has(key)) given.set(key, unquote(value.join('=').trim()))
  }
  const wait = given.get('wait') ?? ''
  return {
    // An empty value is the same as none; with any other it is a preference that nobody has defined.
    respondAsync: given.get('respond-async') === '',
    wait: /^\d+$/.test(wait) ? Math.min(Number(wait), longestWait) : undefined,
  }
}

/** The preferences of a list, without their parameters: none are defined for those that we know. */
const listed = (header: string): string[] =>
  (header.match(/(?:"(?:[^"\\]|\\.)*"?|[^",])+/g) ?? []).map(
    (preference) => /^(?:"(?:[^"\\]|\\.)*"?|[^";])*/.exec(preference)?.[0] ?? '',
  )

const unquote = (word: string): string =>
  word.length > 1 && word.startsWith('"') && word.endsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word
