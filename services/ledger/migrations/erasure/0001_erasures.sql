-- Up Migration
create schema if not exists erasure;

create table erasure.erasures (
  erasure_id uuid primary key,
  org_id text not null references auth.organisations (org_id),
  mode text not null check (mode in ('erase', 'pseudonymise')),
  afterwards text not null check (afterwards in ('refuse', 'new')),
  is_dry_run boolean not null,
  person_id text,
  known jsonb,
  person_sha256 bytea not null,
  names_sha256 bytea[] not null default '{}',
  status text not null default 'running' check (status in ('running', 'done', 'failed')),
  step text not null default 'asked',
  asked_by text not null,
  request_id text,
  asked_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  topic_configs jsonb,
  found jsonb,
  report text,
  signature text,
  problem text
);
create index erasures_of_organisation on erasure.erasures (org_id, asked_at);
create index erasures_running on erasure.erasures (asked_at) where status = 'running';

comment on table erasure.erasures is 'Who is to be forgotten (POST /v1/erasures), and what became of it.';
comment on column erasure.erasures.person_id is 'As it was asked for; null once nothing is left of the person.';
comment on column erasure.erasures.known is 'The ids under which the person is known: found once, since nothing tells them when the records are gone. Null like person_id.';
comment on column erasure.erasures.person_sha256 is 'A hash of person_id with the salt of the organisation: by it the erasure is found again by whoever knows the id.';
comment on column erasure.erasures.names_sha256 is 'The same of all ids in known: by these the proof is made, as often as it is asked for.';
comment on column erasure.erasures.topic_configs is 'How topics are to be set again that are set to be compacted while this runs.';
comment on column erasure.erasures.found is 'What was found before anything was removed, by place.';
comment on column erasure.erasures.report is 'The proof, as the signature covers it.';

create table erasure.gates (
  org_id text primary key references auth.organisations (org_id),
  salt bytea not null,
  change bigint not null
);
comment on table erasure.gates is 'Organisations that have had somebody erased.';
comment on column erasure.gates.change is 'Grows whenever erasure.persons changes: who has read those before sees that they have to be read anew.';

create table erasure.persons (
  org_id text not null references erasure.gates (org_id),
  name_sha256 bytea not null,
  erasure_id uuid not null references erasure.erasures (erasure_id),
  seen_at timestamptz(3),
  primary key (org_id, name_sha256)
);
create index persons_seen on erasure.persons (seen_at) where seen_at is not null;
comment on table erasure.persons is 'Whose records are refused, by hashes of the ids with the salt of the organisation.';

comment on column erasure.persons.seen_at is 'When integrity last refused a record of the person, which lies in the log since: the erasure is done once more, some time after.';

create table erasure.holes (
  topic text not null,
  partition integer not null,
  submitted_offset bigint not null,
  erasure_id uuid not null references erasure.erasures (erasure_id),
  primary key (topic, partition, submitted_offset)
);
comment on table erasure.holes is 'Batches that were removed from the submitted log. What others had in them is in the accepted topics and in ClickHouse.';

create table erasure.signing_key (
  is_only boolean primary key default true check (is_only),
  private_key text not null,
  public_key text not null
);
comment on table erasure.signing_key is 'What proofs are signed with: an Ed25519 key as PEM, made when the first proof is.';
