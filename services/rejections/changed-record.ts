import type { FieldChange } from '#ledger/retries/claims.js'

/**
 * A record with one field changed, as JSON. All else stays as it was written: parsed and written again, 1e400 would be null, and -0
 * zero. What is no object is left as it is.
 */
export const changedRecord = (json: string, { field, to }: FieldChange): string => {
  const text = json.trim()
  if (!text.startsWith('{')) return json
  const others = membersOf(text).filter((member) => nameOf(member) !== field)
  if (to !== undefined) others.push(`${JSON.stringify(field)}:${JSON.stringify(to)}`)
  return `{${others.join(',')}}`
}

/** The members of an object, each as it is written: a name, a colon and a value. */
const membersOf = (text: string): string[] => {
  const members: string[] = []
  let begin = 1
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '"') at = closingQuote(text, at)
    else if (char === '{' || char === '[') depth++
    else if (char === '}' || char === ']') depth--
    if (!(char === ',' && depth === 1) && !(char === '}' && depth === 0)) continue
    const member = text.slice(begin, at).trim()
    if (member !== '') members.push(member)
    begin = at + 1
  }
  return members
}

const nameOf = (member: string): unknown => JSON.parse(member.slice(0, closingQuote(member, 0) + 1))

const closingQuote = (text: string, opening: number): number => {
  let at = opening + 1
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1
  return at
}
