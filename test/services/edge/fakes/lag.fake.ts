import type { Lag } from '../../../../services/edge/limits/lag.js'

/** Integrity that is behind with nothing, but for what is said. */
export const createFakeLag = (over: Partial<Lag> = {}): Lag => ({
  isLagging: () => false,
  isPartlyLagging: () => false,
  isBehind: () => false,
  wayAround: () => undefined,
  lagOf: () => 0,
  ...over,
})
