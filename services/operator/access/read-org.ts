import { OperatorError } from '../desk/operator-error.js'

const orgPattern = /^[a-z0-9][a-z0-9-]{0,62}$/

/** Organisation ids stand in Kafka keys, before a slash, and in rows: plain enough to need no quoting anywhere. */
export const readOrg = (given: string): string => {
  if (orgPattern.test(given)) return given
  throw new OperatorError(
    `${JSON.stringify(given)} cannot be an organisation's id: ` +
      'use 1 to 63 lower-case letters, digits and hyphens, such as acme or acme-2',
  )
}
