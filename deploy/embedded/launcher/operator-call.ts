import { basename } from 'node:path'

// How the operator's command was called, as far as that can be seen from inside: by npm run, by npx, or by its name.

type Environment = Readonly<Record<string, string | undefined>>

const byNpmRun = 'npm run -s weir --'

/** What an operator who called the command this way writes before its words. */
export const calledAs = (env: Environment, program: string): string => {
  if (env.npm_lifecycle_event === 'weir' || basename(program) !== 'weir') return byNpmRun
  return env.npm_lifecycle_event === 'npx' ? 'npx weir' : 'weir'
}

/** The options of all commands: whether a value follows. */
export const operatorOptions: Readonly<Record<string, boolean>> = {
  all: false,
  code: true,
  'demo-key-file': true,
  'dry-run': false,
  'even-superseded': false,
  examples: true,
  expires: true,
  grace: true,
  index: true,
  json: false,
  limit: true,
  mend: false,
  missing: true,
  'new-partitions': true,
  operator: false,
  org: true,
  print: false,
  record: true,
  records: true,
  rejections: true,
  history: true,
  request: true,
  requests: true,
  scopes: true,
  since: true,
  type: true,
  until: true,
  verdicts: true,
  wait: true,
  yes: false,
}

/** Those of the uploader's commands. */
export const uploaderOptions: Readonly<Record<string, boolean>> = {
  broken: true,
  const: true,
  customers: true,
  'dry-run': false,
  format: true,
  json: false,
  'key-file': true,
  map: true,
  'max-errors': true,
  out: true,
  restart: false,
  seed: true,
  shops: true,
  'skip-unknown': false,
  trial: true,
  type: true,
  types: true,
  url: true,
  wait: true,
}

/**
 * Without the two dashes, npm takes the options for its own and hands on the other words: `npm run weir prune --dry-run` would
 * prune. What npm took stands in its environment. Returns a line that says what to write instead.
 */
export const takenByNpm = (
  env: Environment,
  words: readonly string[],
  options: Readonly<Record<string, boolean>> = operatorOptions,
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
