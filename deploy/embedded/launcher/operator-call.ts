import { basename } from 'node:path'

// How the operator's command was called, as far as that can be seen from inside: by npm run, by npx, or by its name.

type Environment = Readonly<Record<string, string | undefined>>

const byNpmRun = 'npm run -s weir --'

/** What an operator who called the command this way writes before its words. */
export const calledAs = (env: Environment, program: string): string => {
  if (env.npm_lifecycle_event === 'weir' || basename(program) !== 'weir') return byNpmRun
  return env.npm_lifecycle_event === 'npx' ? 'npx weir' : 'weir'
}

type Options = Readonly<Record<string, boolean>>

const optionsOf = (withValue: string, alone: string): Options => {
  const names = [...withValue.split(' '), ...alone.split(' ')].sort()
  return Object.fromEntries(names.map((name) => [name, withValue.split(' ').includes(name)]))
}

/** The options of all commands: those behind which a value follows, and the others. A test compares them with the commands. */
export const operatorOptions = optionsOf(
  'about afterwards at code count delivery demo-key-file events examples expected expires file from grace head history index keep key lanes limit missing mode name new-partitions org out ' +
    'partitions person record records rejections request requests scopes seed since state to type until url verdicts wait where with',
  'all all-versions csv deletes dry-run duplicates even-superseded json manage masked mend new-fields operator print quick restart strict yes',
)

/** Those of the uploader's commands. */
export const uploaderOptions = optionsOf(
  'broken const customers date-format decimal delimiter encoding format key-file map max-errors out seed shops trial type types until ' +
    'url uuid-from wait zone',
  'dry-run json restart skip-unknown',
)

/** Those of `weir backup` and `weir restore`. */
export const backupOptions: Options = { aside: false, json: false }

/** Without `--` npm takes the options for its own: `npm run weir prune --dry-run` would prune. Says what to write. */
export const takenByNpm = (
  env: Environment,
  words: readonly string[],
  options: Options = operatorOptions,
): string | undefined => {
  if (env.npm_lifecycle_event !== 'weir') return undefined
  const taken = Object.entries(options).flatMap(([name, takesValue]) => {
    const value = env[`npm_config_${name.replaceAll('-', '_')}`]
    if (!value || value === 'false' || words.includes(`--${name}`)) return []
    if (!takesValue) return { option: `--${name}`, isWhole: true }
    // `--org=acme` is kept whole; of `--org acme`, npm keeps "true" and hands on "acme" as if it were a word of its own.
    const isWhole = !value.startsWith('true')
    return { option: isWhole ? `--${name}=${value}` : `--${name}`, isWhole }
  })
  if (taken.length === 0) return undefined
  const given = taken.map(({ option }) => option)
  const line = taken.every(({ isWhole }) => isWhole) ? [...words, ...given].join(' ') : `${words[0] ?? ''} …`
  return `npm took ${given.join(' and ')} for itself: write two dashes before the command: ${byNpmRun} ${line}`
}
