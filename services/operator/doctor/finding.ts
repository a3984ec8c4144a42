/** Something that is not as Weir needs it. What is wrong loses data or stops something; a warning may, one day. */
export type Finding = { level: 'wrong' | 'warning'; what: string; mend: string }

/** One part, and what was found of it. */
export type Examined = {
  part: string
  /** What it is, in a few words: its version, how many there are. */
  about: string
  findings: Finding[]
}

export const wrong = (what: string, mend: string): Finding => ({ level: 'wrong', what, mend })
export const warning = (what: string, mend: string): Finding => ({ level: 'warning', what, mend })

/** A finding for each of these rules that does not hold. */
export const unless = (rules: readonly [holds: boolean, finding: Finding][]): Finding[] =>
  rules.filter(([holds]) => !holds).map(([, finding]) => finding)
