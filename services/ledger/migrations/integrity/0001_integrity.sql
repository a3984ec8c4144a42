-- Up Migration
create schema if not exists integrity;

-- The fence: what lies below next_offset is decided, and never decided anew.
create table integrity.cursors (
  topic text not null,
  partition integer not null,
  next_offset bigint not null,
  primary key (topic, partition)
);

-- Every record that another one may refer to. It only grows.
create table integrity.entities (
  org_id text not null,
  type text not null,
  id uuid not null,
  primary key (org_id, type, id)
);

create table integrity.verdicts (
  batch_id uuid primary key,
  org_id text not null,
  request_id uuid not null,
  type text not null,
  batch integer not null,
  batches integer not null,
  first_index integer not null,
  body_sha256 bytea not null,
  accepted integer not null,
  -- json, not jsonb: what was refused may hold characters that jsonb cannot.
  refused json not null,
  -- Places in the batch of keyed records that were taken before, and are not published again.
  repeated integer[] not null,
  decided_at timestamptz(3) not null,
  topic text not null,
  partition integer not null,
  submitted_offset bigint not null
);

create index verdicts_request_id on integrity.verdicts (request_id);
create index verdicts_decided_at on integrity.verdicts (decided_at);

-- Interactions that came with an Idempotency-Key: each is taken once.
create table integrity.keyed_interactions (
  org_id text not null,
  interaction_id uuid not null,
  body_sha256 bytea not null,
  recorded_at timestamptz(3) not null,
  primary key (org_id, interaction_id)
);
