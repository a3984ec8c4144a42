/**
 * A place where data is kept, and what of it is about persons. In `kept`, {NAME days} stands for a setting that is so many days: the inventory
 * names it with its default.
 */
export type KeptPlace = {
  holds: string
  /**
   * `personal`: what says something of the persons themselves. `pseudonym`: an id, and maybe what was done under it. `as sent`: what was
   * sent, whatever stands in it. `nothing`: nothing of a person.
   */
  form: 'personal' | 'pseudonym' | 'as sent' | 'nothing'
  kept: string
  why: string
}

/** A place that has nothing about persons; what it has instead. */
export const nothing = (holds: string): KeptPlace => ({ holds, form: 'nothing', kept: '', why: '' })
