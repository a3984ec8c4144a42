/** Who is calling, as their key says. */
export type Caller = {
  orgId: string
  /** null where no key was needed. */
  keyId: string | null
  /** null: all of them */
  scopes: readonly string[] | null
}
