import { type KeptPlace, nothing } from './place.js'

// What Postgres keeps of persons, table by table. No declaration knows these tables, so the sentences stand here; a test fails when a table
// is made that has none.

const asVerdicts = '{VERDICT_RETENTION_HOURS hours} after their last use, those of interactions a day'

export const postgresPlaces: Readonly<Record<string, KeptPlace>> = {
  'auth.organisations': nothing('names and limits of organisations, also of those that were deleted'),
  'auth.api_keys': nothing('hashes and names of keys; a key may be named after somebody who works with it'),
  'auth.audit': {
    holds: 'whose data was exported, and ids of records that were mended (ten of each request)',
    form: 'pseudonym',
    kept: '{AUDIT_RETENTION_DAYS days}',
    why: 'to show who did what, and to whose data',
  },
  'auth.limit_hits': nothing('how often keys sent too much'),
  'delivery.webhooks': nothing('addresses and secrets of receivers'),
  'delivery.queues': nothing('how far each webhook has read'),
  'delivery.deliveries': {
    holds:
      'the delivery log: bodies of accepted records until they are delivered; other bodies, which may have ids of records, and what receivers answered',
    form: 'personal',
    kept: '{WEBHOOK_LOG_RETENTION_DAYS days} after it was delivered or given up; while a webhook is disabled, what is to be delivered to it stays',
    why: 'so that a receiver gets what happened while it was away, and can have it sent again',
  },
  'erasure.erasures': {
    holds: 'who is to be forgotten, until nothing is left of the person; from then on a hash of the id',
    form: 'pseudonym',
    kept: 'the id for a minute or as long as it takes, the rest for good',
    why: 'to forget everything, and to prove it',
  },
  'erasure.gates': nothing('which organisations have had somebody erased'),
  'erasure.persons': {
    holds: 'salted hashes of ids whose records are refused',
    form: 'pseudonym',
    kept: 'for good',
    why: 'so that nobody who was erased comes back with an upload, a replay or a backup',
  },
  'erasure.holes': nothing('places in the log from which batches were removed'),
  'erasure.retention': nothing('how long records of a type are kept'),
  'erasure.retention_runs': nothing('how many records were removed because they were too old'),
  'erasure.topic_configs': nothing('how topics are set'),
  'erasure.signing_key': nothing('what proofs are signed with'),
  'edge.requests': nothing('how many records were in requests that took long'),
  'integrity.cursors': nothing('how far each partition is decided'),
  'integrity.entities': {
    holds: 'the ids of all customers that were ever accepted, also of deleted ones',
    form: 'pseudonym',
    kept: 'for good',
    why: 'to know whether a customer exists that a favourite or an interaction refers to',
  },
  'integrity.verdicts': {
    holds: 'the ids of records that were refused or waited, and what was wrong with them',
    form: 'pseudonym',
    kept: asVerdicts,
    why: 'to decide no batch twice, and to tell an uploader what became of a request',
  },
  'integrity.keyed_interactions': nothing('ids and hashes of interactions that came with an Idempotency-Key'),
  'integrity.retries': nothing('which refused records were submitted again, by batch and place'),
  'integrity.keyed_requests': nothing('in which batch interactions were decided that came with an Idempotency-Key'),
  'integrity.accepted_losses': nothing('places in the log that were lost'),
  'integrity.index_changes': nothing('how often entities were removed from the index'),
  'integrity.layouts': nothing('how wide the system is'),
  'integrity.request_bodies': nothing('hashes of bodies'),
  'integrity.retry_orders': {
    holds: 'what refused records were to be submitted again, and one value that was set in all of them',
    form: 'as sent',
    kept: 'two weeks longer than refused records: {REJECTION_RETENTION_DAYS days} and 14 more',
    why: 'to submit no record twice',
  },
  'integrity.waiting': {
    holds: 'records that wait for what they refer to, whole; of those that no longer wait their ids alone',
    form: 'personal',
    kept: 'while they wait, 7 days at the most; their ids {VERDICT_RETENTION_HOURS hours} longer',
    why: 'to accept a record when what it refers to has come',
  },
  'integrity.waiting_for': {
    holds: 'the ids of customers that records wait for',
    form: 'pseudonym',
    kept: 'while a record waits for them',
    why: 'to find what waits for a customer that comes',
  },
  'integrity.waiting_arrived': {
    holds: 'the ids of customers that were waited for and have come',
    form: 'pseudonym',
    kept: 'until those that waited are decided, a moment',
    why: 'to have what waited for them decided anew',
  },
  'integrity.forgotten_verdicts': {
    holds: 'as integrity.verdicts, after Postgres went back to an earlier state',
    form: 'pseudonym',
    kept: 'until their batches are decided again',
    why: 'to decide them as they were decided before',
  },
  'operator.verifications': nothing('what `weir verify` counted'),
  'operator.segments': {
    holds: 'the conditions of own segments, in which somebody may have written an id',
    form: 'pseudonym',
    kept: 'for good',
    why: 'to find who is in a segment',
  },
  'query.saved_queries': {
    holds: 'queries that people saved, in which somebody may have written an id',
    form: 'pseudonym',
    kept: 'until somebody deletes them',
    why: 'to share queries',
  },
}
