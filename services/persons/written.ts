import { csvLine } from '#schemas/csv-rows.js'
import { writeJson } from '#schemas/json-text.js'
import type { KeptThing, OpenExport } from './export.js'

// An export as text, piece by piece.

const lists = ['records', 'refused', 'waiting', 'derived'] as const

/** As one JSON object, each thing on a line of its own. Where it ends without its last bracket, something is missing. */
export async function* asJsonText({ head, things }: OpenExport): AsyncGenerator<string, void, undefined> {
  const { person, exported_at, elsewhere } = head
  yield `{"person":${writeJson(person)},"exported_at":${writeJson(exported_at)}`
  let open = -1
  let isFirst = true
  for await (const { list, thing } of things) {
    const place = lists.indexOf(list)
    while (open < place) {
      yield beginOf(open++)
      isFirst = true
    }
    yield `${isFirst ? '' : ','}\n${writeJson(thing)}`
    isFirst = false
  }
  while (open < lists.length - 1) yield beginOf(open++)
  yield `],\n"elsewhere":${writeJson(elsewhere)}}\n`
}

/** Ends the list at this place, if there is one, and begins the next. */
const beginOf = (open: number): string => `${open < 0 ? '' : ']'},\n"${lists[open + 1]}":[`

/** As CSV that a person can read: a line for each value, with what it belongs to. Its last lines say that it is whole. */
export async function* asCsvText({ head, things }: OpenExport): AsyncGenerator<string, void, undefined> {
  const { person, exported_at, elsewhere } = head
  const about = (field: string, value: unknown) => csvLine(['person', '', '', '', '', field, value])
  yield csvLine(['part', 'type', 'id', 'version', 'time', 'field', 'value'])
  yield [
    about('id', person.id),
    ...person.customer_ids.map((id) => about('customer_id', id)),
    ...person.user_ids.map((id) => about('user_id', id)),
    ...person.not_followed.map(({ user_id, customers }) =>
      about('not_followed', `user_id ${user_id}, which ${customers} customers have`),
    ),
    about('exported_at', exported_at),
  ].join('')
  for await (const each of things) yield linesOf(each)
  yield elsewhere
    .map(({ where, what, kept }) => csvLine(['elsewhere', '', '', '', '', where, `${what}; kept ${kept}`]))
    .join('')
}

const linesOf = (each: KeptThing): string => {
  // Through JSON, so that values are as they are there.
  const json = JSON.parse(writeJson(each.thing)) as Record<string, unknown>
  const at = (part: string, version: unknown, time: unknown, values: Readonly<Record<string, unknown>>) =>
    Object.entries(values)
      .filter(([, value]) => value !== null)
      .map(([field, value]) => csvLine([part, json.type ?? json.from, json.id, version, time, field, value]))
      .join('')
  switch (each.list) {
    case 'records':
      return at(
        each.thing.is_current ? 'record' : 'former record',
        json.version,
        json.accepted_at,
        fieldsOf(json.record),
      )
    case 'refused':
      return at('refused', '', json.rejected_at, { ...fieldsOf(json.record), problems: json.problems })
    case 'waiting':
      return at('waiting', '', json.since, {
        ...fieldsOf(json.record),
        'waits for': json.for,
        'waits until': json.until,
      })
    case 'derived':
      return at('derived', '', '', fieldsOf(json.values))
    default:
      return each satisfies never
  }
}

/** A refused record may be anything: what is no object is one value. */
const fieldsOf = (record: unknown): Readonly<Record<string, unknown>> =>
  typeof record === 'object' && record !== null && !Array.isArray(record) ? { ...record } : { record }

const pieceLength = 64 * 1024

/** The same text in larger pieces: a million small ones would each be written to the connection by themselves. */
export async function* inPieces(texts: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  let piece = ''
  for await (const text of texts) {
    piece += text
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
  }
  if (piece !== '') yield piece
}
