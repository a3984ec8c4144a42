import { manageKeys, readKeys } from '../../derive/scopes.js'
import { answered, endpoint } from '../endpoint.js'
import * as v from '../values.js'
import { actor, orgPattern } from './keys.js'

// What was done with an organisation's keys, limits and records, and by whom.

export const auditActions = [
  'key_issued',
  'key_renamed',
  'key_rotated',
  'key_revoked',
  'limits_set',
  'retry_ordered',
  'records_mended',
  'waiting_cancelled',
  'segment_set',
  'segment_dropped',
  'webhook_created',
  'webhook_changed',
  'webhook_deleted',
  'webhook_secret_rotated',
  'webhook_disabled',
  'person_exported',
  'erasure_asked',
  'erasure_ended',
  'retention_set',
  'retention_dropped',
] as const
export type AuditAction = (typeof auditActions)[number]

const audited = v.named('Audited', {
  at: v.instant,
  org: v.text('the organisation that it concerns; `*`: every one'),
  action: v.oneOf(auditActions),
  subject: v.text(
    'the id of the key, of the order, of the webhook or of the person, the organisation, the type of the records, or the name of the segment',
  ),
  by: actor,
  request_id: v.nullable(v.uuid),
  details: v.anyObject('a few words and numbers more; never a secret'),
  chain: v.text('a hash of this and of the one before it, in hexadecimal digits'),
  redacted: v.flag('whether the id of an erased person was taken out of it'),
})
const page = { limit: v.limitTo(1000, 100), cursor: v.cursor }
const answers = answered('A page.', v.object({ done: v.list(audited), next_cursor: v.nextCursor }))

export const auditProblems = ['changed', 'removed', 'forged', 'head_missing'] as const
export type AuditProblem = (typeof auditProblems)[number]

const whose = (about: string) =>
  v.text(`${about}; \`*\`: what concerns every organisation, as a rule for how long records are kept`, {
    pattern: `^\\*$|${orgPattern}`,
    refusal: 'org must be the id of an organisation, or * for what concerns every one',
  })
const head = v.optional(
  v.text('a head that you noted before, and that has to be in the chain', {
    pattern: '^[0-9a-f]{64}$',
    refusal: 'head must be a hash of 64 hexadecimal digits, as an earlier answer has it',
  }),
)
const verified = answered(
  'Whether it holds.',
  v.object({
    holds: v.flag('whether nothing in it was changed, removed or put in'),
    entries: v.count(),
    redacted: v.count('those that the id of an erased person was taken out of'),
    from: v.nullable(v.instant, 'when the first entry is from that is still kept; null where there is none'),
    head: v.nullable(v.text(), 'the chain of the newest entry: it stands for all of them'),
    problem: v.nullable(
      v.object({
        what: v.oneOf(auditProblems, {
          description:
            'changed: the entry is not what it was; removed: entries before it are missing; forged: it was put in later; head_missing: no entry has the head that was asked for',
        }),
        at: v.nullable(v.instant, 'when the entry is from where the chain first breaks'),
        chain: v.nullable(v.text(), 'the chain of that entry'),
      }),
      'null where it holds',
    ),
  }),
)
const aboutVerifying =
  'Each entry holds a hash of itself and of the entry before it, so that none can be changed or removed unnoticed. Note the `head` now and then: asked with it later, the answer also says whether the newest entries were cut off. How to check it without Weir: docs/operations.md.'

export const listOwnAudit = endpoint('GET', '/v1/audit', 'list-own-audit', 'keys', {
  summary: 'What was done with your keys, limits, records and persons, and by whom; the newest first',
  scope: manageKeys,
  query: page,
  answers,
})

export const listAudit = endpoint('GET', '/v1/operator/audit', 'list-audit', 'operators', {
  summary: 'What was done with keys, limits, records and persons of organisations, and by whom; the newest first',
  scope: readKeys,
  isForOperators: true,
  query: { org: v.optional(whose('only what concerns this organisation')), ...page },
  answers,
})

export const verifyOwnAudit = endpoint('GET', '/v1/audit/verification', 'verify-own-audit', 'keys', {
  summary: 'Whether what was done still stands as it was written',
  about: aboutVerifying,
  scope: manageKeys,
  query: { head },
  answers: verified,
})

export const verifyAudit = endpoint('GET', '/v1/operator/audit/verification', 'verify-audit', 'operators', {
  summary: 'Whether what was done with an organisation still stands as it was written',
  about: aboutVerifying,
  scope: readKeys,
  isForOperators: true,
  query: { org: whose('the organisation'), head },
  answers: verified,
})
