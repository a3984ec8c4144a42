import { UsageError } from '../read/row.js'

/** How many refused records are too many: a number, or a share of the records that were answered. */
export type MostErrors = { count: number } | { share: number }

export type Budget = ReturnType<typeof createBudget>

// One refused record among the first ten is no 10 % of a million.
const enough = 1000

export const createBudget = (most: MostErrors | undefined) => {
  let records = 0
  let refused = 0
  // Of chunks that are not answered yet: how many records they have, and how many of those are refused for certain.
  let ahead = 0
  let foreseen = 0
  return {
    isBounded: most !== undefined,
    /** Records that were answered. */
    add: (more: number, refusedOfThem: number): void => {
      records += more
      refused += refusedOfThem
    },
    /** Records that are to be sent, and how many of them are wrong by the catalogue alone; negative once they are answered. */
    foresee: (more: number, wrongOfThem: number): void => {
      ahead += more
      foreseen += wrongOfThem
    },
    foreseen: (): number => foreseen,
    /** Whether nothing more should be sent. Of a share, only once enough is known to speak of one, or when `all` is answered. */
    isSpent: (all = false): boolean => {
      if (!most) return false
      if ('count' in most) return refused + foreseen > most.count
      return (all || records + ahead >= enough) && refused + foreseen > most.share * (records + ahead)
    },
  }
}

/** 1000, or 5%. */
export const readMostErrors = (given: string): MostErrors => {
  if (/^\d{1,12}$/.test(given)) return { count: Number(given) }
  const share = /^(\d{1,3}(?:\.\d+)?)%$/.exec(given)?.[1]
  if (share !== undefined && Number(share) <= 100) return { share: Number(share) / 100 }
  throw new UsageError(`"${given}" is no number of errors: write a number or a share, such as --max-errors 1000 or 5%`)
}
