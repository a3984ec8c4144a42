import { describe, it } from 'vitest'
import { isDeep } from './sized.js'

const leftOut = Object.assign(() => {}, { each: () => () => {}, for: () => () => {} })

/** `it` for a case that only `npm run test:deep` has: it is long or rare by nature, and a cheaper test holds its promise in every run. */
export const itDeep = (isDeep ? it : leftOut) as typeof it

/** The same for a group of cases. */
export const describeDeep = (isDeep ? describe : leftOut) as typeof describe
