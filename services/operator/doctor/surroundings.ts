import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { nearest } from '#schemas/derive/nearest-name.js'
import { type Examined, type Finding, unless, warning, wrong } from './finding.js'
import { knownVariables } from './known-variables.js'

type Environment = Readonly<Record<string, string | undefined>>

// Of other programs, and near enough to names of ours to be taken for mistyped ones.
const strangers = [
  'KAFKA_OPTS',
  'KAFKA_HEAP_OPTS',
  'KAFKA_HOME',
  'POSTGRES_DB',
  'POSTGRES_USER',
  'WEIR_KEY',
  'WEIR_URL',
]
// Variables of other programs have short names: only what looks like one of ours is compared.
const ours = new Set(knownVariables.map((name) => name.split('_')[0]).filter((word) => word !== 'JAVA'))

/** Variables that look like one of Weir's and are none. */
export const examineVariables = (env: Environment): Examined => {
  const set = Object.keys(env).filter((name) => env[name])
  const unknown = set.filter(
    (name) =>
      /^[A-Z]+(_[A-Z0-9]+)+$/.test(name) &&
      ours.has(name.split('_')[0] ?? '') &&
      !knownVariables.includes(name) &&
      !strangers.includes(name),
  )
  const findings = unknown.flatMap((name): Finding[] => {
    const meant = knownVariables.find((known) => known.startsWith(`${name}_`)) ?? nearest(name, knownVariables)
    if (meant) return [warning(`${name} is no setting of Weir`, `did you mean ${meant}? docs/settings.md has them all`)]
    return name.startsWith('WEIR_')
      ? [warning(`${name} is no setting of Weir`, 'docs/settings.md has them all; unset it')]
      : []
  })
  const known = set.filter((name) => knownVariables.includes(name))
  return { part: 'environment', about: `${known.length} settings of Weir, in this shell`, findings }
}

export type CertificateFacts = { variable: string; file: string; ends: Date | string }

/** When the certificates end that these variables name; a text where a file cannot be read. */
export const readCertificates = (env: Environment): CertificateFacts[] =>
  ['TLS_CERT', ...knownVariables.filter((name) => name.endsWith('_CA_FILE'))].flatMap((variable) => {
    const file = env[variable]
    return file ? [{ variable, file, ends: endOf(file) }] : []
  })

/** The first of its certificates to end: a file may hold several. */
const endOf = (file: string): Date | string => {
  try {
    const texts = readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g)
    if (!texts) return 'it holds no certificate'
    return new Date(Math.min(...texts.map((text) => new Date(new X509Certificate(text).validTo).getTime())))
  } catch (error) {
    return (error as Error).message
  }
}

const day = 86_400_000
const soon = 30 * day

export const examineCertificates = (found: readonly CertificateFacts[], now: Date): Examined => ({
  part: 'certificates',
  about: found.length === 0 ? 'none are named in this shell' : `${found.length} files`,
  findings: found.flatMap(({ variable, file, ends }) => {
    if (typeof ends === 'string')
      return [wrong(`${variable} names ${file}: ${ends}`, `put the certificate (PEM) there, or change ${variable}`)]
    const left = ends.getTime() - now.getTime()
    return unless([
      [left > 0, wrong(`${file} (${variable}) ended ${ends.toISOString()}`, 'put a new certificate there')],
      [
        left <= 0 || left > soon,
        warning(`${file} (${variable}) ends in ${Math.floor(left / day)} days`, 'put a new certificate there in time'),
      ],
    ])
  }),
})

export type ClockFacts = {
  part: string
  /** Milliseconds that it is ahead of this machine, give or take the half of what the question took. */
  ahead: number
  unsure: number
}

const mostApart = 2_000

export const examineClocks = (clocks: readonly ClockFacts[]): Examined => ({
  part: 'clocks',
  about: clocks.length === 0 ? 'none could be asked' : `of ${clocks.map(({ part }) => part).join(' and ')}`,
  findings: clocks
    .filter(({ ahead, unsure }) => Math.abs(ahead) - unsure > mostApart)
    .map(({ part, ahead }) =>
      warning(
        `that of ${part} is ${Math.round(Math.abs(ahead) / 1000)} s ${ahead > 0 ? 'ahead of' : 'behind'} this machine: ages and retention are wrong by that`,
        'let both be set by NTP (timedatectl, chronyc tracking)',
      ),
    ),
})
