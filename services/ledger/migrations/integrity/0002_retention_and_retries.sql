-- Up Migration
-- A verdict is kept by its last use: when its batch last came again, or else when it was decided.
alter table integrity.verdicts add column repeated_at timestamptz(3);
create index verdicts_last_used on integrity.verdicts (topic, partition, (coalesce(repeated_at, decided_at)));
create index keyed_interactions_recorded_at on integrity.keyed_interactions (recorded_at);

-- Verdicts of the partition that were last used before this moment may be gone; null where none was ever pruned.
alter table integrity.cursors add column pruned_before timestamptz(3);

-- Refused records that an operator submitted again: each rejection is claimed once, by its primary key, before it is sent.
create table integrity.retries (
  batch_id uuid not null,
  index integer not null,
  org_id text not null,
  type text not null,
  rejected_at timestamptz(3) not null,
  -- The Idempotency-Key of the request that it was sent in, and its place among that request's records.
  retry_id uuid not null,
  place integer not null,
  claimed_at timestamptz(3) not null default now(),
  -- Known once the request was answered; until then the next run sends the same request again.
  outcome text check (outcome in ('accepted', 'refused')),
  request_id uuid,
  answered_at timestamptz(3),
  primary key (batch_id, index)
);

create index retries_retry_id on integrity.retries (retry_id);
create index retries_unanswered on integrity.retries (claimed_at) where outcome is null;
create index retries_rejected_at on integrity.retries (rejected_at);
