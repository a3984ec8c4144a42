import { type ConfigSchema, integer, string, type ValuesOf } from './config.js'

// Where the parts are, and what a service needs to get in. A variable with a twin `…_FILE` can be given as a file instead.

type Variables = ConfigSchema['properties']

const secretFile = (name: string) => string({}, `file that holds ${name}, instead of it`)
const caFile = (part: string, more = '') =>
  string(
    {},
    `file with the certificate (PEM) of the authority that signed that of ${part}, where the public ones did not. ${more}`,
  )

export const kafkaVariables = {
  KAFKA_BROKERS: string(
    { default: '127.0.0.1:9092' },
    'Kafka bootstrap addresses, comma-separated. Given to `npm start`, no Kafka is started',
  ),
  KAFKA_TLS: { type: 'boolean', default: false, description: 'whether the brokers are reached over TLS' },
  KAFKA_CA_FILE: caFile('the brokers, or of the token endpoint'),
  KAFKA_SASL_MECHANISM: string(
    { enum: ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] },
    'how the service logs in: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER; without it, it does not',
  ),
  KAFKA_USERNAME: string({}, 'who the service logs in as'),
  KAFKA_PASSWORD: string({}, 'the password of KAFKA_USERNAME'),
  KAFKA_PASSWORD_FILE: secretFile('KAFKA_PASSWORD'),
  KAFKA_OAUTH_TOKEN_URL: string(
    {},
    'with OAUTHBEARER: where a token is had for client credentials. It is renewed after four fifths of its life, or 30 s before its end',
  ),
  KAFKA_OAUTH_CLIENT_ID: string({}, 'the client that the token is for'),
  KAFKA_OAUTH_CLIENT_SECRET: string({}, 'the secret of KAFKA_OAUTH_CLIENT_ID'),
  KAFKA_OAUTH_CLIENT_SECRET_FILE: secretFile('KAFKA_OAUTH_CLIENT_SECRET'),
  KAFKA_OAUTH_SCOPE: string({}, 'the scope that is asked for, if the token endpoint wants one'),
  KAFKA_SESSION_TIMEOUT_MS: integer(
    { minimum: 1_000, maximum: 60_000, default: 10_000 },
    'how long the partitions of a killed process wait for another one; the brokers allow 6000 at the least, unless their group.min.session.timeout.ms says otherwise',
  ),
} as const satisfies Variables

export const registryVariables = {
  SCHEMA_REGISTRY_URL: string(
    { default: 'http://127.0.0.1:8081/apis/ccompat/v7' },
    'base address of a Confluent-compatible schema registry. Given to `npm start`, none is started',
  ),
  SCHEMA_REGISTRY_CA_FILE: caFile('the schema registry'),
  SCHEMA_REGISTRY_USERNAME: string({}, 'who the service logs in as at the schema registry'),
  SCHEMA_REGISTRY_PASSWORD: string({}, 'the password of SCHEMA_REGISTRY_USERNAME'),
  SCHEMA_REGISTRY_PASSWORD_FILE: secretFile('SCHEMA_REGISTRY_PASSWORD'),
  SCHEMA_REGISTRY_TOKEN: string({}, 'a bearer token for the schema registry, instead of a user'),
  SCHEMA_REGISTRY_TOKEN_FILE: secretFile('SCHEMA_REGISTRY_TOKEN'),
} as const satisfies Variables

export const postgresVariables = {
  POSTGRES_URL: string(
    { default: 'postgres://weir:weir@127.0.0.1:5432/weir' },
    'connection string of the Postgres database. Reached directly or through a pooler in session mode; given to `npm start`, none is started. With several hosts (`postgres://weir:secret@pg-1:5432,pg-2:5432/weir?target_session_attrs=read-write`), connections go to the one that takes writes; see [cluster.md](cluster.md#postgres)',
  ),
  POSTGRES_URL_FILE: secretFile('POSTGRES_URL'),
  POSTGRES_CA_FILE: caFile(
    'Postgres',
    'Certificate and name are then checked. Where a public authority signed, write `?sslmode=verify-full` in the URL instead',
  ),
} as const satisfies Variables

export const clickhouseVariables = {
  CLICKHOUSE_URL: string(
    { default: 'http://127.0.0.1:8123' },
    'HTTP address of ClickHouse. With user and password if it needs them; given to `npm start`, none is started',
  ),
  CLICKHOUSE_URL_FILE: secretFile('CLICKHOUSE_URL'),
  CLICKHOUSE_CA_FILE: caFile('ClickHouse'),
  CLICKHOUSE_CLUSTER: string(
    {},
    'the cluster (in `remote_servers` of its servers) that holds the tables: replicated, and sharded by organisation. Without it they are on one server; see [clickhouse-cluster.md](clickhouse-cluster.md)',
  ),
  CLICKHOUSE_INSERT_QUORUM: string(
    { enum: ['auto', '0', '2', '3', '4', '5'], default: 'auto' },
    'on a cluster: how many replicas have rows before their offsets are committed; `auto` is the majority, `0` the one that was asked',
  ),
} as const satisfies Variables

export const logVariables = {
  LOG_LEVEL: string(
    { enum: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], default: 'info' },
    'least level that is logged',
  ),
} as const satisfies Variables

export const partVariables = {
  ...kafkaVariables,
  ...registryVariables,
  ...postgresVariables,
  ...clickhouseVariables,
} as const

/** Of a service that uses only some of the parts, the variables of the others are not there. */
export type PartsConfig = Partial<ValuesOf<typeof partVariables>>
