import type { Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { Config } from '../config.js'

/** What a command works with. */
export type Session = {
  config: Config
  catalogue: Catalogue
  withPool: <T>(work: (pool: Pool) => Promise<T>) => Promise<T>
  /** The result, and nothing else, so that it can be piped on. */
  print: (text: string) => void
  /** Everything that is said beside the result. */
  note: (text: string) => void
  /** Columns of the terminal. */
  width: number
}

/** An examples block below a command's help. */
export const examples = (...lines: string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ npm run weir -- ${line}`).join('\n')}`
