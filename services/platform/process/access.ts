import { addressProblem, changeAddress, isAddress } from '../postgres/hosts.js'
import { notRight, readSecret } from './config.js'
import type { PartsConfig } from './part-variables.js'

/** Where each part is, and how a service gets in. */
export type Access = {
  kafka: KafkaAccess
  registry: RegistryAccess
  /** The connection string; it says by itself whether TLS is spoken, and whom to trust. */
  postgres: string
  clickhouse: Trust & { url: string; cluster?: string; quorum?: string | undefined }
}

export type KafkaAccess = {
  brokers: string
  tls?: Trust
  login?: KafkaLogin
  /** How long Kafka waits for a silent consumer before it gives its partitions to another one, in milliseconds. */
  sessionTimeout?: number | undefined
}
export type RegistryAccess = Trust & { url: string; authorization?: string }

/** The authority (PEM) that a part's certificate has to be signed by; without one, any that the system trusts. */
export type Trust = { ca?: string }

export type KafkaLogin =
  | { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
  | ({ mechanism: 'OAUTHBEARER' } & TokenEndpoint)

/** Where a token is had for client credentials (RFC 6749, 4.4). */
export type TokenEndpoint = Trust & { url: string; clientId: string; clientSecret: string; scope?: string }

/** A part does not let this service in as it is set up: one line that says what to change. Trying again does not help. */
export class AccessRefused extends Error {
  readonly retriable = false
}

/** How a service gets into these parts; throws one error that names everything that is wrong with its variables. */
export const readAccess = <Name extends keyof Access>(
  config: PartsConfig,
  names: readonly Name[],
): Pick<Access, Name> => {
  const problems: string[] = []
  const access = Object.fromEntries(names.map((name) => [name, readers[name](config, problems)]))
  if (problems.length > 0) throw notRight(problems)
  return access as Pick<Access, Name>
}

const readers: { [Name in keyof Access]: (config: PartsConfig, problems: string[]) => Access[Name] } = {
  kafka: (config, problems) => {
    const trust = readTrust('KAFKA_CA_FILE', config, problems)
    const login = readLogin(config, trust, problems)
    if (trust.ca && !config.KAFKA_TLS && login?.mechanism !== 'OAUTHBEARER')
      problems.push('KAFKA_CA_FILE is set, but TLS is not spoken: set KAFKA_TLS=true')
    return {
      brokers: config.KAFKA_BROKERS ?? '',
      ...(config.KAFKA_TLS && { tls: trust }),
      ...(login && { login }),
      sessionTimeout: config.KAFKA_SESSION_TIMEOUT_MS,
    }
  },
  registry: (config, problems) => {
    const { SCHEMA_REGISTRY_URL: url = '', SCHEMA_REGISTRY_USERNAME: user, SCHEMA_REGISTRY_TOKEN: token } = config
    const password = config.SCHEMA_REGISTRY_PASSWORD
    if (URL.canParse(url) && new URL(url).username)
      problems.push(
        'SCHEMA_REGISTRY_URL holds a user: put it into SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD',
      )
    if (token && user)
      problems.push('SCHEMA_REGISTRY_TOKEN and SCHEMA_REGISTRY_USERNAME are both set: unset one of them')
    if (Boolean(user) !== Boolean(password))
      problems.push(
        'SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD (or SCHEMA_REGISTRY_PASSWORD_FILE) go together',
      )
    const basic = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
    const authorization = token ? `Bearer ${token}` : user ? basic : undefined
    const trust = readTrust('SCHEMA_REGISTRY_CA_FILE', config, problems)
    wantHttps('SCHEMA_REGISTRY_URL', url, trust, problems)
    return { url, ...trust, ...(authorization && { authorization }) }
  },
  postgres: (config, problems) => {
    const { POSTGRES_URL: given = '', POSTGRES_CA_FILE: file } = config
    const problem = addressProblem(given)
    if (problem) problems.push(`POSTGRES_URL ${problem}`)
    if (!file || !readTrust('POSTGRES_CA_FILE', config, problems).ca) return given
    if (!isAddress(given)) {
      problems.push('POSTGRES_URL is not a URL, which POSTGRES_CA_FILE needs')
      return given
    }
    return changeAddress(given, ({ searchParams }) => {
      if (searchParams.get('sslmode') === 'disable')
        problems.push('POSTGRES_CA_FILE is set, but POSTGRES_URL says sslmode=disable: leave one of them out')
      // In the address, because that is all that node-pg-migrate takes.
      searchParams.set('sslmode', 'verify-full')
      searchParams.set('sslrootcert', file)
    })
  },
  clickhouse: (config, problems) => {
    const { CLICKHOUSE_URL: url = '', CLICKHOUSE_CLUSTER: cluster, CLICKHOUSE_INSERT_QUORUM: quorum } = config
    const trust = readTrust('CLICKHOUSE_CA_FILE', config, problems)
    wantHttps('CLICKHOUSE_URL', url, trust, problems)
    // It stands in statements.
    if (cluster && !/^[A-Za-z0-9_.-]+$/.test(cluster))
      problems.push('CLICKHOUSE_CLUSTER holds more than letters, digits and _ . -: write the name from remote_servers')
    return { url, ...trust, ...(cluster && { cluster, quorum }) }
  },
}

type CaVariable = 'KAFKA_CA_FILE' | 'SCHEMA_REGISTRY_CA_FILE' | 'POSTGRES_CA_FILE' | 'CLICKHOUSE_CA_FILE'

const readTrust = (variable: CaVariable, config: PartsConfig, problems: string[]): Trust => {
  const file = config[variable]
  if (!file) return {}
  try {
    const ca = readSecret(variable, file)
    // Node takes any text for a list of authorities, and then trusts none.
    if (!ca.includes('-----BEGIN CERTIFICATE-----'))
      throw new Error(`${variable} names ${file}, which holds no certificate (PEM)`)
    return { ca }
  } catch (error) {
    problems.push((error as Error).message)
    return {}
  }
}

const wantHttps = (variable: string, url: string, { ca }: Trust, problems: string[]): void => {
  const caVariable = variable.replace(/URL$/, 'CA_FILE')
  if (ca && !url.startsWith('https:'))
    problems.push(`${caVariable} is set, but TLS is not spoken: write https:// in ${variable}`)
}

const readLogin = (config: PartsConfig, trust: Trust, problems: string[]): KafkaLogin | undefined => {
  const { KAFKA_SASL_MECHANISM: mechanism } = config
  const byPassword = ['KAFKA_USERNAME', 'KAFKA_PASSWORD'] as const
  const byToken = ['KAFKA_OAUTH_TOKEN_URL', 'KAFKA_OAUTH_CLIENT_ID', 'KAFKA_OAUTH_CLIENT_SECRET'] as const
  const wanted: readonly (keyof PartsConfig)[] =
    mechanism === undefined ? [] : mechanism === 'OAUTHBEARER' ? byToken : byPassword
  const missing = wanted.filter((name) => !config[name])
  if (missing.length > 0) problems.push(`KAFKA_SASL_MECHANISM=${mechanism} also needs ${missing.join(' and ')}`)
  const idle = [...byPassword, ...byToken].filter((name) => config[name] && !wanted.includes(name))
  if (idle.length > 0) {
    const advice = mechanism ? `unset it, or set another mechanism` : 'set KAFKA_SASL_MECHANISM, or unset it'
    problems.push(`${idle.join(' and ')} would not be used: ${advice}`)
  }
  if (mechanism === undefined) return undefined
  if (mechanism !== 'OAUTHBEARER')
    return { mechanism, username: config.KAFKA_USERNAME ?? '', password: config.KAFKA_PASSWORD ?? '' }
  const url = config.KAFKA_OAUTH_TOKEN_URL ?? ''
  if (url && !/^https?:/.test(url)) problems.push('KAFKA_OAUTH_TOKEN_URL must begin with https:// or http://')
  return {
    mechanism,
    url,
    clientId: config.KAFKA_OAUTH_CLIENT_ID ?? '',
    clientSecret: config.KAFKA_OAUTH_CLIENT_SECRET ?? '',
    ...(config.KAFKA_OAUTH_SCOPE && { scope: config.KAFKA_OAUTH_SCOPE }),
    ...trust,
  }
}
