import { type RequestError, tryLater } from '#http/request-error.js'
import { type ConfigSchema, integer, type ValuesOf } from '#platform/process/config.js'
import { createTally } from '#platform/process/tally.js'

/** An import is read as it comes, for hours if it must: so how many there are, and how slow one may be, has bounds. */
export const importVariables = {
  MAX_IMPORTS: integer(
    { minimum: 1, default: 64 },
    'most imports under way at once; a quarter of them for one organisation',
  ),
  IMPORT_BYTES_PER_SECOND: integer(
    { minimum: 1, default: 8192 },
    'the least that an import must bring a second, over REQUEST_TIMEOUT_MS. A slower one is ended, and can be resumed',
  ),
} as const satisfies ConfigSchema['properties']

export type ImportBounds = { atOnce: number; bytesPerSecond: number }

export const importBoundsOf = (config: ValuesOf<typeof importVariables>): ImportBounds => ({
  atOnce: config.MAX_IMPORTS,
  bytesPerSecond: config.IMPORT_BYTES_PER_SECOND,
})

const tooMany = tryLater(503, 'too many imports are under way; try again in a few seconds')
const tooManyOfOne = (most: number) =>
  tryLater(429, `this organisation has ${most} imports under way, which is the most; try again when one has ended`)

/** Counts the imports that are under way, each until the function that it is given is called. */
export const createImportSlots = (
  atOnce: number,
): ((orgId: string) => { leave: () => void } | { error: RequestError }) => {
  const underWay = createTally()
  const ofOne = Math.ceil(atOnce / 4)
  return (orgId) => {
    if (underWay.of(orgId) >= ofOne) return { error: tooManyOfOne(ofOne) }
    if (underWay.all() >= atOnce) return { error: tooMany }
    underWay.add(orgId, 1)
    let isIn = true
    return {
      leave: () => {
        if (isIn) underWay.add(orgId, -1)
        isIn = false
      },
    }
  }
}
