import type { OrgRates } from '../limits/rates.js'

/** Who is calling, as their key says. */
export type Caller = {
  orgId: string
  /** null where no key was needed. */
  keyId: string | null
  /** null: all of them */
  scopes: readonly string[] | null
  /** Its organisation's own; where there are none, everybody's. */
  rates?: OrgRates | undefined
}
