import { describe, expect, it } from 'vitest'
import { lagsOf } from '../../../../services/operator/status/lag.js'
import type { SystemLook } from '../../../../services/operator/status/look.js'
import { judge, toJson, toText } from '../../../../services/operator/status/report.js'

const now = new Date('2026-01-31T12:00:00Z')
const ago = (ms: number) => new Date(now.getTime() - ms)
const hour = 3_600_000

const ready = (name: string) => ({
  ...{ name, address: `http://${name}`, version: '0.1.0', commit: 'abcdef0123' },
  ...{ is_ready: true, problems: {} },
})
const lag = { stage: 'decide' as const, topic: 'weir.submitted.shops', partition: 3, lag: 2 }
const ledger = {
  ...{ waiting: 0, oldest_wait: null, keys_ending: [], erasures_failed: 0, used_bytes: 12_345_678 },
  last_verify: { ran_at: ago(hour), since: ago(25 * hour), until: ago(hour), differences: 0, is_clean: true },
}
const tables = { used: 1_000, free: 50e9, size: 100e9, set_aside: 0 }
const fine: SystemLook = {
  services: ['edge', 'integrity', 'sink'].map(ready),
  kafka: { ok: true, found: [{ ...lag, oldest: ago(1_000) }] },
  postgres: { ok: true, found: ledger },
  clickhouse: { ok: true, found: tables },
}

it('finds nothing wrong with a system that is well, and says so on one screen', () => {
  expect(judge(fine, now)).toEqual({ wrong: [], remarks: [] })
  const text = toText(fine, judge(fine, now), now, 80)
  expect(text.split('\n').length).toBeLessThan(24)
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  expect(text).toContain('integrity  ready  0.1.0 abcdef0')
  expect(text).toContain('weir.submitted.shops/3: 2, the oldest from a moment ago')
  expect(text).toContain('12 MB of data')
  expect(text).toMatch(/all is well$/)
  expect(JSON.parse(toJson(fine, judge(fine, now), now))).toMatchObject({
    is_well: true,
    services: [{}, {}, {}],
    wrong: [],
  })
})

const away = { ok: false as const, problem: 'Kafka does not answer at 127.0.0.1:9092' }
const notReady = { ...ready('integrity'), is_ready: false, problems: { decisions: 'batches of x/1 are not decided' } }

describe('says what is wrong, and what to do next', () => {
  it.each<[string, Partial<SystemLook>, string, string]>([
    [
      'a service that is away',
      { services: [{ ...ready('sink'), is_ready: false, problems: { sink: 'does not answer' } }] },
      'sink does not answer',
      'is it running?',
    ],
    [
      'a service that is not ready',
      { services: [notReady] },
      'integrity, decisions: batches of x/1 are not decided',
      'When something is away',
    ],
    [
      'an erasure that has failed',
      { postgres: { ok: true, found: { ...ledger, erasures_failed: 1 } } },
      '1 erasure has failed',
      '"weir erasures list" says why',
    ],
    ['a part that is away', { kafka: away }, 'Kafka does not answer at 127.0.0.1:9092', 'When something is away'],
    [
      'a batch without a verdict',
      { kafka: { ok: true, found: [{ ...lag, oldest: ago(31_000) }] } },
      'weir.submitted.shops/3 has waited to be decided',
      'WeirVerdictsLate',
    ],
    [
      'an event without a row',
      { kafka: { ok: true, found: [{ ...lag, stage: 'write', oldest: ago(601_000) }] } },
      'has waited to be written since 10 min ago',
      'WeirSinkBehind',
    ],
    [
      'a record that waits for long',
      { postgres: { ok: true, found: { ...ledger, waiting: 1, oldest_wait: ago(13 * hour) } } },
      'a record has waited since 13 h ago',
      'weir waiting list',
    ],
    [
      'differences',
      {
        postgres: {
          ok: true,
          found: { ...ledger, last_verify: { ...ledger.last_verify, differences: 4, is_clean: false } },
        },
      },
      'found 4 differences',
      'weir verify',
    ],
    [
      'a full disk',
      { clickhouse: { ok: true, found: { ...tables, free: 9e9 } } },
      '9.0 GB of 100 GB are free',
      'make room',
    ],
    [
      'messages set aside',
      { clickhouse: { ok: true, found: { ...tables, set_aside: 2 } } },
      '2 messages could not be read',
      'weir rejected list --code undecodable',
    ],
  ])('%s', (_, changed, what, next) => {
    const found = { ...fine, ...changed }
    const judgement = judge(found, now)
    expect(judgement.wrong).toEqual([{ what: expect.stringContaining(what), next: expect.stringContaining(next) }])
    expect(toText(found, judgement, now, 80)).toContain('1 thing is wrong:')
  })

  it.each<[string, Partial<SystemLook>, string]>([
    [
      'an upgrade that is under way',
      { services: [ready('edge'), { ...ready('sink'), version: '0.2.0' }] },
      '0.1.0 and 0.2.0',
    ],
    [
      'keys that end',
      {
        postgres: {
          ok: true,
          found: { ...ledger, keys_ending: [{ key_id: 'k1', name: null, org: 'acme', expires_at: ago(-48 * hour) }] },
        },
      },
      'k1 of acme in 2 d',
    ],
    [
      'nothing verified',
      { postgres: { ok: true, found: { ...ledger, last_verify: null } } },
      'nothing was ever verified',
    ],
    [
      'nothing verified for long',
      { postgres: { ok: true, found: { ...ledger, last_verify: { ...ledger.last_verify, ran_at: ago(200 * hour) } } } },
      'for 8 days',
    ],
  ])('or only worth knowing: %s', (_, changed, what) => {
    const { wrong, remarks } = judge({ ...fine, ...changed }, now)
    expect(wrong).toEqual([])
    expect(remarks).toEqual([{ what: expect.stringContaining(what), next: expect.any(String) }])
  })
})

it('shows what is known while every part is away', () => {
  const nothing = { services: fine.services, kafka: away, postgres: away, clickhouse: away }
  expect(toText(nothing, judge(nothing, now), now, 80)).toMatch(/to be decided +unknown[\s\S]*3 things are wrong/)
})

it('counts what is left to read: by the group of its stage, from the first message that is still there', () => {
  const stages = {
    decide: [{ groupId: 'a', topics: ['submitted'] }],
    write: [{ groupId: 'b', topics: ['accepted'] }],
  }
  const committed = new Map([
    ['submitted/0', 8],
    ['submitted/1', 3],
    ['accepted/0', 20],
  ])
  const stretch = { from: 5, until: 10 }
  const stretches = [
    { topic: 'submitted', partition: 0, ...stretch },
    { topic: 'submitted', partition: 1, ...stretch },
    { topic: 'submitted', partition: 2, ...stretch },
    { topic: 'accepted', partition: 0, ...stretch },
  ]
  expect(lagsOf(stages, stretches, committed)).toEqual([
    { stage: 'decide', topic: 'submitted', partition: 1, lag: 5, next: 5 },
    { stage: 'decide', topic: 'submitted', partition: 2, lag: 5, next: 5 },
    { stage: 'decide', topic: 'submitted', partition: 0, lag: 2, next: 8 },
    { stage: 'write', topic: 'accepted', partition: 0, lag: 0, next: 20 },
  ])
})

it('counts every generation of the submitted log, but an earlier one only for as long as Kafka knows its group', () => {
  const topics = ['weir.submitted.shops', 'weir.submitted.shops.g1']
  const stages = { decide: topics.map((topic) => ({ groupId: topic, topics: [topic] })), write: [] }
  const stretches = topics.map((topic) => ({ topic, partition: 0, from: 0, until: 9 }))
  const lagOf = (committed: [string, number][]) =>
    lagsOf(stages, stretches, new Map(committed)).map(({ topic, lag }) => [topic, lag])
  expect(lagOf([['weir.submitted.shops/0', 7]])).toEqual([
    ['weir.submitted.shops.g1', 9],
    ['weir.submitted.shops', 2],
  ])
  expect(lagOf([])).toEqual([['weir.submitted.shops.g1', 9]])
})
