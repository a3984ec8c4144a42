import { envSchema } from 'env-schema'

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
  const data = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  try {
    return Object.freeze(envSchema({ schema, data, env: false }) as ConfigOf<S>)
  } catch (error) {
    throw new Error(`the environment is not right: ${toSentences(error as Error, schema)}`)
  }
}

/** For `main.ts`: the config, or one clear message and the end of the process. */
export const readConfigOrExit = <const S extends ConfigSchema>(schema: S): ConfigOf<S> => {
  try {
    return readConfig(schema)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(1)
  }
}

const toSentences = (error: Error, schema: ConfigSchema): string =>
  error.message
    .split(', ')
    .map((line) =>
      line.replace(/^env\/(\w+)/, '$1').replace(/^env must have required property '(\w+)'/, '$1 must be set'),
    )
    .map((line) => {
      const name = /^\w+/.exec(line)?.[0] ?? ''
      const about = schema.properties[name]?.description
      return about ? `${line} (${about})` : line
    })
    .join('; ')

/** Where the parts are through which the services meet, and how much is logged. */
export const partVariables = {
  KAFKA_BROKERS: {
    type: 'string',
    default: '127.0.0.1:9092',
    description: 'Kafka bootstrap addresses, comma-separated',
  },
  SCHEMA_REGISTRY_URL: {
    type: 'string',
    default: 'http://127.0.0.1:8081/apis/ccompat/v7',
    description: 'base address of a Confluent-compatible schema registry',
  },
  POSTGRES_URL: {
    type: 'string',
    default: 'postgres://weir:weir@127.0.0.1:5432/weir',
    description: 'connection string of the Postgres database',
  },
  CLICKHOUSE_URL: { type: 'string', default: 'http://127.0.0.1:8123', description: 'HTTP address of ClickHouse' },
  LOG_LEVEL: {
    type: 'string',
    enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
    description: 'least level that is logged',
  },
} as const satisfies ConfigSchema['properties']
