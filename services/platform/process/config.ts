import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'

/** The shape of one service's environment: name, type, default, meaning. */
export type ConfigSchema = {
  type: 'object'
  required?: readonly string[]
  properties: Readonly<
    Record<
      string,
      {
        type: 'string' | 'integer' | 'boolean'
        default?: string | number | boolean
        minimum?: number
        maximum?: number
        enum?: readonly string[]
        description: string
      }
    >
  >
}

/** A variable that holds a whole number, or a text. */
export const integer = <const More extends { default?: number; minimum?: number; maximum?: number }>(
  more: More,
  description: string,
) => ({ type: 'integer', ...more, description }) as const
export const string = <const More extends { default?: string; enum?: readonly string[] }>(
  more: More,
  description: string,
) => ({ type: 'string', ...more, description }) as const

/** The values that a schema reads: a variable that has a default or is required is always there. */
export type ConfigOf<S extends ConfigSchema> = Readonly<
  { [Name in Certain<S>]: ValueOf<S['properties'][Name]> } & {
    [Name in Exclude<keyof S['properties'] & string, Certain<S>>]?: ValueOf<S['properties'][Name]>
  }
>

type Certain<S extends ConfigSchema> = {
  [Name in keyof S['properties'] & string]: S['properties'][Name] extends { default: unknown }
    ? Name
    : S extends { required: readonly (infer Required)[] }
      ? Extract<Required, Name>
      : never
}[keyof S['properties'] & string]

type ValueOf<V extends ConfigSchema['properties'][string]> = V extends { enum: readonly (infer Word)[] }
  ? Word
  : { string: string; integer: number; boolean: boolean }[V['type']]

/** The values of some variables, for code that needs only those. */
export type ValuesOf<P extends ConfigSchema['properties']> = ConfigOf<{ type: 'object'; properties: P }>

/** Reads the environment once, and names everything that is wrong with it together. */
export const readConfig = <const S extends ConfigSchema>(
  schema: S,
  env: NodeJS.ProcessEnv = process.env,
): ConfigOf<S> => {
  // An empty variable is how a compose file or a shell says "not set".
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const { data, problems } = withFiles(Object.keys(schema.properties), set)
  // It fills in defaults, makes numbers of words, and takes out what is no setting.
  const ajv = new Ajv({ ...everyProblem, removeAdditional: true, useDefaults: true, coerceTypes: true })
  if (!ajv.validate({ ...schema, additionalProperties: false }, data))
    problems.push(toSentences(ajv.errorsText(ajv.errors, { dataVar: 'env' }), schema))
  if (problems.length > 0) throw notRight(problems)
  return Object.freeze(data as unknown as ConfigOf<S>)
}

/** What is wrong with the environment, in one line. */
export const notRight = (problems: readonly string[]): Error =>
  new Error(`the environment is not right: ${problems.join('; ')}`)

/** For `main.ts`: the config, or one clear message and the end of the process. */
export const readConfigOrExit = <const S extends ConfigSchema>(schema: S): ConfigOf<S> =>
  orExit(() => readConfig(schema))

/** For `main.ts`: what was read, or one clear message and the end of the process. */
export const orExit = <T>(read: () => T): T => {
  try {
    return read()
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(1)
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** A variable that has a twin `…_FILE` can be given as a file that holds its value, as secrets are handed to containers. */
export const withFiles = (
  names: readonly string[],
  env: Environment,
): { data: Record<string, string | undefined>; problems: string[] } => {
  const data = { ...env }
  const problems: string[] = []
  for (const name of names.filter((each) => names.includes(`${each}_FILE`))) {
    const file = env[`${name}_FILE`]
    if (!file) continue
    try {
      if (env[name]) throw new Error(`${name} and ${name}_FILE are both set: unset one of them`)
      data[name] = readSecret(`${name}_FILE`, file)
    } catch (error) {
      problems.push((error as Error).message)
    }
  }
  return { data, problems }
}

/** The text of a file that a variable names, without the line's end that editors and `echo` put behind it. */
export const readSecret = (variable: string, file: string): string => {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(`${variable} names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  if (!text) throw new Error(`${variable} names ${file}, which is empty`)
  return text
}

// The types check our schemas: to have Ajv compile its own schema for that would take a tenth of a second of each start.
const everyProblem = { allErrors: true, meta: false, validateSchema: false } as const

const toSentences = (text: string, schema: ConfigSchema): string =>
  text
    .split(', ')
    .map((line) =>
      line.replace(/^env\/(\w+)/, '$1').replace(/^env must have required property '(\w+)'/, '$1 must be set'),
    )
    .map((line) => {
      const name = /^\w+/.exec(line)?.[0] ?? ''
      // Its first sentence: what follows is for docs/settings.md.
      const about = schema.properties[name]?.description.split('. ')[0]
      return about ? `${line} (${about})` : line
    })
    .join('; ')
