import type { Catalogue } from '#schemas/catalogue.js'
import { type EdgeAnswer, type Reading, readInteraction, readUpload } from './read-answer.js'

export const uploadPath = (type: string): string => `/v1/data/${type}`

/** The request that submits these records, and how to read its answer. The same records always give the same bytes. */
export const requestOf = (
  catalogue: Catalogue,
  type: string,
  records: readonly string[],
): { path: string; body: string; read: (answer: EdgeAnswer) => Reading } =>
  type === catalogue.interaction.type
    ? { path: '/user-interactions', body: records[0] ?? '', read: readInteraction }
    : { path: uploadPath(type), body: `{"records":[${records.join(',')}]}`, read: readUpload }
