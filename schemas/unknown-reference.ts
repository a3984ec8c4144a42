import type { Problem } from './problem.js'
import type { Reference } from './record.js'

/** What is wrong with a record of these references: told by integrity when it decides, by the edge in a dry run. */
export const unknownReferences = (
  references: readonly Reference[],
  isKnown: (reference: Reference) => boolean,
): Problem[] => references.filter((reference) => !isKnown(reference)).map(unknownReference)

const unknownReference = ({ field, type, id }: Reference): Problem => ({
  field,
  code: 'unknown_reference',
  message: `${field} ${id} is not a known record of ${type}; upload it first`,
})
