import type { Observed } from '../observe/observed.js'
import type { Ledger } from '../workload/ledger.js'

/** Something that is not as it was promised: the promise's name, and what breaks it. */
export type Finding = { name: string; about: string }

export type Check = (ledger: Ledger, observed: Observed) => Finding[]
