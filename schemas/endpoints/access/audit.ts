import { manageKeys, readKeys } from '../../derive/scopes.js'
import { answered, endpoint } from '../endpoint.js'
import * as v from '../values.js'
import { actor, ofOrganisation } from './keys.js'

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
  org: v.text('whose keys, limits or records they are'),
  action: v.oneOf(auditActions),
  subject: v.text(
    'the id of the key, of the order, of the webhook or of the person, the organisation, the type of the records, or the name of the segment',
  ),
  by: actor,
  request_id: v.nullable(v.uuid),
  details: v.anyObject('a few words and numbers more; never a secret'),
})
const page = { limit: v.limitTo(1000, 100), cursor: v.cursor }
const answers = answered('A page.', v.object({ done: v.list(audited), next_cursor: v.nextCursor }))

export const listOwnAudit = endpoint('GET', '/v1/audit', 'list-own-audit', 'keys', {
  summary: 'What was done with your keys, limits and records, and by whom; the newest first',
  scope: manageKeys,
  query: page,
  answers,
})

export const listAudit = endpoint('GET', '/v1/operator/audit', 'list-audit', 'operators', {
  summary: 'What was done with keys, limits and records of organisations, and by whom; the newest first',
  scope: readKeys,
  isForOperators: true,
  query: { org: ofOrganisation('only what concerns this organisation'), ...page },
  answers,
})
