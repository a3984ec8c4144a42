import { randomUUID } from 'node:crypto'

// JSON inside JSON, as it was given: JSON.parse would make 1e400 infinite, which JSON.stringify then writes as null, and -0 zero.

// Text that clients cannot have sent.
const mark = randomUUID()
const marked = new RegExp(`"${mark}/(\\d+)"`, 'g')
let texts: string[] = []

/** A value for `writeJson`: it stands in its text as this JSON, unchanged. */
export const asJson = (text: string): unknown => ({ toJSON: () => `${mark}/${texts.push(text) - 1}` })

/** JSON.stringify, for payloads with `asJson` in them too. */
export const writeJson = (payload: unknown): string => {
  texts = []
  const written = JSON.stringify(payload)
  const given = texts
  texts = []
  return given.length === 0 ? written : written.replace(marked, (_, place: string) => given[Number(place)] ?? '')
}
