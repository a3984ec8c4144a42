/** Whether this is `npm run test:deep`, which takes the time that it needs. */
export const isDeep = process.env.WEIR_TEST_DEPTH === 'deep'

/** A size that shows a property in seconds, for every `npm test`; and the one that an engineer runs before a release. */
export const sized = <T>(usual: T, deep: T): T => (isDeep ? deep : usual)
