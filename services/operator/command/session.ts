import type { Log } from '#platform/health/log.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { OperatorConfig } from '../config.js'
import type { PartName, Parts, PartsOptions } from './servers.js'

/** What a command works with. */
export type Session = {
  config: OperatorConfig
  catalogue: Catalogue
  log: Log
  /** Opens parts for some work, and closes them after it: see `withParts`. */
  withParts: <Name extends PartName, T>(
    names: readonly Name[],
    work: (parts: Pick<Parts, Name>) => Promise<T>,
    options?: PartsOptions,
  ) => Promise<T>
  /** The result, and nothing else, so that it can be piped on. */
  print: (text: string) => void
  /** Everything that is said beside the result. */
  note: (text: string) => void
  /** The exit code of a command that has done its work: 0 unless this says otherwise. */
  endWith: (exitCode: number) => void
  /** The environment as it was given: "weir doctor" looks for mistyped names. */
  env: Readonly<Record<string, string | undefined>>
  /** Columns of the terminal; infinite where there is none. */
  width: number
}

/** An examples block below a command's help. */
export const examples = (...lines: string[]): string =>
  `\nExamples:\n${lines.map((line) => `  $ weir ${line}`).join('\n')}`

/** The same, and what else there is to say about the command. */
export const examplesAnd = (about: string, ...lines: string[]): string => `${examples(...lines)}\n${about}`

/** Hints and examples name commands as "weir keys list" and $ weir keys list: this makes of them what can be pasted. */
export const toPasted = (text: string, calledAs: string): string =>
  text.replaceAll(/(["$] ?)weir(?= )/g, (_, before: string) => `${before}${calledAs}`)
