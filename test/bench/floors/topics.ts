/** The topics of the floors, on the same broker as Weir's. */
export const topics = {
  naive: 'bench.naive',
  floor: 'bench.floor',
  interaction: 'bench.interaction',
  there: 'bench.there',
  back: 'bench.back',
} as const
