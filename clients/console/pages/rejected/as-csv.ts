import type { AnswerTo, Rejection, TypeReference } from '../../../typescript/src/endpoints.js'
import { createRefusedLines, refusedRecordOf } from '../../../typescript/src/files/refused-csv.js'
import type { Ask } from '../../api/ask.js'
import { save } from '../../rows/refused-file.js'
import type { GroupFilter } from './retry.js'

/** A group as a file that can be mended and uploaded: CSV of one type, otherwise NDJSON. */
export const saveGroup = async (
  ask: Ask,
  filter: GroupFilter,
  type: TypeReference | undefined,
  onProgress: (records: number) => void,
): Promise<void> => {
  const found: Rejection[] = []
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = new URLSearchParams({ ...filter, limit: '1000', ...(cursor && { cursor }) })
    const page: AnswerTo<'GET /v1/rejections'> = await ask(`/v1/rejections?${query}`)
    found.push(...page.rejections)
    cursor = page.next_cursor
    onProgress(found.length)
  }
  const name = ['refused', filter.type, filter.code, filter.field].filter(Boolean).join('-')
  if (type) save(`${name}.csv`, new Blob(csvOf(type, found), { type: 'text/csv' }))
  else save(`${name}.ndjson`, new Blob(found.map(ndjsonOf), { type: 'application/x-ndjson' }))
}

// The place in the request stands where a file's line would: which file it came from is not known here.
const ndjsonOf = ({ record, index, problems }: Rejection): string =>
  `${JSON.stringify(refusedRecordOf(record, index, problems))}\n`

/** Columns for the fields of the type, and for those that it does not have but some record did. */
export const csvOf = (type: TypeReference, rejections: readonly Rejection[]): string[] => {
  const recordOf = ({ record }: Rejection) =>
    (typeof record === 'object' && record !== null ? record : {}) as Record<string, unknown>
  const columns = [
    ...new Set([...type.fields.map(({ name }) => name), ...rejections.flatMap((one) => Object.keys(recordOf(one)))]),
  ]
  const { header, line } = createRefusedLines(columns)
  const cellsOf = (one: Rejection) => columns.map((name) => textOf(recordOf(one)[name]))
  return [header, ...rejections.map((one) => line(cellsOf(one), one.index, one.problems))]
}

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
