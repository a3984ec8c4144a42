import { execFileSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ClickHouseFacts, examineClickHouse } from '../../../../services/operator/doctor/clickhouse.js'
import { toText } from '../../../../services/operator/doctor/command.js'
import type { Examined } from '../../../../services/operator/doctor/finding.js'
import { examineKafka, type KafkaFacts } from '../../../../services/operator/doctor/kafka.js'
import { knownVariables } from '../../../../services/operator/doctor/known-variables.js'
import { examinePostgres } from '../../../../services/operator/doctor/postgres.js'
import { examineRegistry } from '../../../../services/operator/doctor/registry.js'
import {
  examineCertificates,
  examineClocks,
  examineVariables,
  readCertificates,
} from '../../../../services/operator/doctor/surroundings.js'

/** What was found, in one text. */
const said = ({ findings }: Examined): string[] =>
  findings.map(({ level, what, mend }) => `${level}: ${what} → ${mend}`)

describe('Kafka', () => {
  const config = { 'cleanup.policy': 'delete', 'retention.ms': '1000' }
  const topic = {
    ...{ partitions: 4, copies: 3 },
    settings: new Map([...Object.entries(config), ['min.insync.replicas', '2']]),
  }
  const fine: KafkaFacts = {
    ...{ brokers: 3, offsetsCopies: 3, sessionTimeout: 10_000 },
    declared: ['a', 'b'].map((name) => ({ name, partitions: 4, config })),
    topics: new Map(['a', 'b'].map((name) => [name, topic])),
    broker: new Map(Object.entries({ 'auto.create.topics.enable': 'false', 'group.min.session.timeout.ms': '6000' })),
  }
  const broker = (settings: Record<string, string>) => ({
    broker: new Map([...fine.broker, ...Object.entries(settings)]),
  })
  const topics = (changed: Partial<typeof topic>) => ({
    topics: new Map(['a', 'b'].map((name) => [name, { ...topic, ...changed }])),
  })
  const settings = (changed: Record<string, string>) => ({
    settings: new Map([...topic.settings, ...Object.entries(changed)]),
  })

  it('is well as it should be', () => expect(said(examineKafka(fine))).toEqual([]))

  it.each<[string, Partial<KafkaFacts>]>([
    ['wrong: b: a topic is not there → "weir provision"', { topics: new Map([['a', topic]]) }],
    [
      'wrong: a and 1 more: retention.ms is 5 instead of 1000 → "weir provision"',
      topics(settings({ 'retention.ms': '5' })),
    ],
    ['wrong: a and 1 more: it has 5 partitions instead of 4 → docs/runbook.md', topics({ partitions: 5 })],
    [
      'wrong: a and 1 more: min.insync.replicas is 1 with 3 copies: an acknowledged message may be lost',
      topics(settings({ 'min.insync.replicas': '1' })),
    ],
    [
      'wrong: a and 1 more: min.insync.replicas is 4 with 3 copies: nothing can be written',
      topics(settings({ 'min.insync.replicas': '4' })),
    ],
    ['wrong: 3 brokers, and topics with one copy', topics({ copies: 1, ...settings({ 'min.insync.replicas': '1' }) })],
    ['warning: topics have two copies', topics({ copies: 2 })],
    [
      'warning: one broker alone',
      { brokers: 1, offsetsCopies: 1, ...topics({ copies: 1, ...settings({ 'min.insync.replicas': '1' }) }) },
    ],
    ['wrong: __consumer_offsets has 1 copies on 3 brokers', { offsetsCopies: 1 }],
    [
      'warning: a topic that somebody asks for by a mistyped name is made',
      broker({ 'auto.create.topics.enable': 'true' }),
    ],
    ['warning: a copy that lacks messages may lead', broker({ 'unclean.leader.election.enable': 'true' })],
    ['wrong: the brokers allow no session below 30000 ms', broker({ 'group.min.session.timeout.ms': '30000' })],
    ['warning: a group without members is forgotten after 60 minutes', broker({ 'offsets.retention.minutes': '60' })],
  ])('%s', (expected, changed) => {
    expect(said(examineKafka({ ...fine, ...changed }))).toEqual([expect.stringContaining(expected)])
  })

  it('is well with one broker that flushes, and with one that hides its settings', () => {
    const one = {
      ...fine,
      brokers: 1,
      offsetsCopies: 1,
      ...topics({ copies: 1, ...settings({ 'min.insync.replicas': '1' }) }),
    }
    expect(said(examineKafka({ ...one, ...broker({ 'log.flush.interval.messages': '1' }) }))).toEqual([])
    expect(said(examineKafka({ ...fine, broker: new Map() }))).toEqual([])
  })
})

describe('Postgres', () => {
  const given = {
    ...{ server_version: '18.4', max_connections: '100', superuser_reserved_connections: '3' },
    ...{ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' },
  }
  const facts = (changed: Record<string, string> = {}, more = {}) => ({
    ...{ version: 180_004, used: 20, standbys: [] as string[], pending: 0 },
    settings: new Map(Object.entries({ ...given, ...changed })),
    ...more,
  })

  it('is well as it should be, alone and with a standby that is waited for', () => {
    expect(said(examinePostgres(facts()))).toEqual([])
    expect(said(examinePostgres(facts({}, { standbys: ['sync', 'async'] })))).toEqual([])
  })

  it.each<[string, Parameters<typeof examinePostgres>[0]]>([
    ['wrong: fsync is off', facts({ fsync: 'off' })],
    ['wrong: full_page_writes is off', facts({ full_page_writes: 'off' })],
    ['wrong: synchronous_commit is off', facts({ synchronous_commit: 'off' })],
    ['warning: no standby is synchronous', facts({}, { standbys: ['async'] })],
    ['warning: synchronous_commit is local', facts({ synchronous_commit: 'local' }, { standbys: ['sync'] })],
    ['warning: 37 connections', facts({ max_connections: '40' })],
    ['warning: 90 of 97 connections are in use', facts({}, { used: 90 })],
    ['warning: it is older than 15', facts({}, { version: 140_011 })],
    ['wrong: 2 changes of its tables are missing', facts({}, { pending: 2 })],
  ])('%s', (expected, found) => {
    expect(said(examinePostgres(found))).toEqual([expect.stringContaining(expected)])
  })
})

describe('ClickHouse', () => {
  const fine: ClickHouseFacts = {
    ...{ version: '25.8.3.66', readonly: 0, fixed: [], declared: 90, missing: [] },
    storage: { used: 1, free: 50, size: 100 },
  }
  it('is well as it should be', () => expect(said(examineClickHouse(fine))).toEqual([]))
  it.each<[string, Partial<ClickHouseFacts>]>([
    ['warning: 23.3.1 is older than 24.8', { version: '23.3.1' }],
    ['wrong: its user only reads', { readonly: 2 }],
    ['wrong: the user may not change async_insert', { fixed: ['async_insert'] }],
    ['wrong: shops_log and 1 more is not there', { missing: ['shops_log', 'shops'] }],
    ['wrong: 5 % of its disk is free', { storage: { used: 1, free: 5, size: 100 } }],
  ])('%s', (expected, changed) => {
    expect(said(examineClickHouse({ ...fine, ...changed }))).toEqual([expect.stringContaining(expected)])
  })
})

it('looks at the rules and the schemas of the registry', () => {
  const fine = { subject: 'a-value', isRegistered: true, rule: 'FULL_TRANSITIVE' as const }
  expect(said(examineRegistry([fine]))).toEqual([])
  expect(said(examineRegistry([fine, { ...fine, rule: 'NONE' }]))).toEqual([
    expect.stringContaining('wrong: a-value: the rule is NONE instead of FULL_TRANSITIVE'),
  ])
  expect(said(examineRegistry([fine, { ...fine, isRegistered: false, rule: undefined }]))).toEqual([
    expect.stringContaining("wrong: a-value: this Weir's schema is not registered"),
  ])
})

it('finds variables that look like mistyped settings, and leaves those of others alone', () => {
  expect(knownVariables).toEqual(expect.arrayContaining(['KAFKA_BROKERS', 'LANES', 'TLS_CERT', 'EDGE_PORT']))
  const env = {
    ...{
      KAFKA_BROKERS: 'a:9092',
      KAFKA_OPTS: '-x',
      PATH: '/bin',
      HOME: '/',
      JAVA_HOME: '/java',
      JAVA_OPTS: '-Xmx1g',
      npm_config_x: '1',
    },
    ...{ POSTGRES_USER: 'weir', WEIR_KEY: 'k', SSH_AUTH_SOCK: '/s', KUBERNETES_PORT: '443', RATE_LIMIT: '' },
  }
  expect(examineVariables(env)).toEqual({ part: 'environment', about: expect.stringMatching(/^2 /), findings: [] })
  expect(said(examineVariables({ KAFKA_BROKER: 'a', VERDICT_TIMEOUT: '1', WEIR_DEBUGGING_LEVEL: '1' }))).toEqual([
    'warning: KAFKA_BROKER is no setting of Weir → did you mean KAFKA_BROKERS? docs/settings.md has them all',
    expect.stringContaining('did you mean VERDICT_TIMEOUT_MS?'),
    expect.stringContaining('WEIR_DEBUGGING_LEVEL is no setting of Weir → docs/settings.md'),
  ])
})

it('finds clocks that differ from that of this machine, where the answer came soon enough to tell', () => {
  const postgres = { part: 'Postgres', ahead: -1_500, unsure: 5 }
  expect(said(examineClocks([postgres, { ...postgres, ahead: 5_000, unsure: 3_500 }]))).toEqual([])
  const apart = [
    { ...postgres, ahead: 3_600_000 },
    { part: 'ClickHouse', ahead: -9_000, unsure: 5 },
  ]
  expect(said(examineClocks(apart))).toEqual([
    expect.stringContaining('warning: that of Postgres is 3600 s ahead of this machine'),
    expect.stringContaining('warning: that of ClickHouse is 9 s behind this machine'),
  ])
})

it('finds certificates that end soon, have ended or are none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-certificate-'))
  const [cert, other] = [join(folder, 'cert.pem'), join(folder, 'other.pem')]
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '40']
  execFileSync('openssl', [...words, '-subj', '/CN=x', '-keyout', '/dev/null', '-out', cert], { stdio: 'ignore' })
  writeFileSync(other, 'nothing')
  const found = readCertificates({ TLS_CERT: cert, KAFKA_CA_FILE: other, POSTGRES_CA_FILE: join(folder, 'none') })
  expect(found.map(({ variable }) => variable)).toEqual(['TLS_CERT', 'KAFKA_CA_FILE', 'POSTGRES_CA_FILE'])
  const at = (days: number) => said(examineCertificates(found.slice(0, 1), new Date(Date.now() + days * 86_400_000)))
  expect(at(0)).toEqual([])
  expect(at(15)).toEqual([expect.stringMatching(/^warning: .*cert.pem \(TLS_CERT\) ends in 24 days/)])
  expect(at(41)).toEqual([expect.stringMatching(/^wrong: .*cert.pem \(TLS_CERT\) ended /)])
  expect(said(examineCertificates(found.slice(1), new Date()))).toEqual([
    expect.stringContaining('KAFKA_CA_FILE names'),
    expect.stringContaining('ENOENT'),
  ])
})

it('says each problem with the line that mends it', () => {
  const parts: Examined[] = [
    { part: 'Kafka', about: '1 broker', findings: [] },
    { part: 'Postgres', about: '18.4', findings: [{ level: 'wrong', what: 'fsync is off', mend: 'set it on' }] },
  ]
  expect(toText(parts, 80).split('\n')).toEqual([
    'ok  Kafka: 1 broker',
    '--  Postgres: 18.4',
    '    wrong: fsync is off',
    '      → set it on',
    '',
    '1 wrong, 0 warnings',
  ])
})
