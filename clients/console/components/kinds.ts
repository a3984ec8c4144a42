import type { FieldReference } from '../../typescript/src/endpoints.js'

/** What a field holds, in a few words. */
export const kindWords = ({ kind, to, choices, kinds }: FieldReference): string => {
  if (kind === 'reference') return `id of ${to}`
  if (kind === 'item') return `id of ${Object.values(kinds ?? {}).join(', ')}`
  return kind === 'choice' ? `one of ${choices?.join(', ')}` : (names[kind] ?? kind)
}

const names: Record<string, string> = {
  uuid: 'UUID',
  country: '2-letter country code',
  instant: 'date and time',
  moment: 'date and time, or seconds',
  boolean: 'true or false',
}

/** What else is asked of a value. */
export const limitWords = ({ max_length, above, min, max, by }: FieldReference): string =>
  [
    max_length !== undefined && `at most ${max_length.toLocaleString('en-GB')} characters`,
    above !== undefined && `above ${above}`,
    min !== undefined && `at least ${min}`,
    max !== undefined && `at most ${max}`,
    by !== undefined && `${by} says of which type`,
  ]
    .filter(Boolean)
    .join(', ')
