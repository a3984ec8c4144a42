import type { AnswerTo, Rejection, TypeReference } from '../../../typescript/src/endpoints.js'
import type { Ask } from '../../api/ask.js'
import { asText } from '../../components/words.js'
import { refusedFile, save } from '../../rows/refused-file.js'
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
  save(`${name}.${type ? 'csv' : 'ndjson'}`, fileOf(type, found))
}

/** Of CSV, columns for the fields of the type, and for those that it does not have but some record did. */
const fileOf = (type: TypeReference | undefined, rejections: readonly Rejection[]): Blob => {
  const fieldsOf = ({ record }: Rejection) =>
    (typeof record === 'object' && record !== null ? record : {}) as Record<string, unknown>
  const columns = type && [
    ...new Set([...type.fields.map(({ name }) => name), ...rejections.flatMap((one) => Object.keys(fieldsOf(one)))]),
  ]
  const givenOf = (one: Rejection) => columns?.map((name) => asText(fieldsOf(one)[name])) ?? one.record
  // The place in the request stands where a file's line would: which file it came from is not known here.
  const rows = rejections.map((one) => ({ row: { line: one.index, given: givenOf(one) }, problems: one.problems }))
  return refusedFile(columns, rows)
}
