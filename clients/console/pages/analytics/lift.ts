/** How many interactions there were and after how many of them somebody bought: of recommended ones, and of all others. */
export type LiftCounts = { recommended: number; recommended_bought: number; others: number; others_bought: number }

/** Shares of interactions that a purchase came of; how many times as large the first is, and within what that lies. */
export type Lift = {
  recommendedShare: number | null
  othersShare: number | null
  lift: { value: number; low: number; high: number } | null
}

/** By the same rule as the mart recommendation_lift, for counts that were summed over its rows: a lift itself cannot be summed. */
export const liftOf = ({ recommended, recommended_bought, others, others_bought }: LiftCounts): Lift => {
  const recommendedShare = recommended > 0 ? recommended_bought / recommended : null
  const othersShare = others > 0 ? others_bought / others : null
  if (!recommendedShare || !othersShare) return { recommendedShare, othersShare, lift: null }
  const value = recommendedShare / othersShare
  const margin = 1.96 * Math.sqrt((1 - recommendedShare) / recommended_bought + (1 - othersShare) / others_bought)
  return {
    recommendedShare,
    othersShare,
    lift: { value, low: value * Math.exp(-margin), high: value * Math.exp(margin) },
  }
}
