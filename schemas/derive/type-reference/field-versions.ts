// Made by npm run publish-schemas from schemas/released: the contracts of the versions that CHANGELOG.md says are released.
import type { FieldVersions } from './since.js'

export const fieldVersions: FieldVersions = {
  first: null,
  of: {},
}
