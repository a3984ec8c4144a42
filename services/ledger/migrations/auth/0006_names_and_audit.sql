-- Up Migration
-- Organisations manage keys by themselves (keys:manage): people have to see which key is which, and who did what.
alter table auth.api_keys
  add column name text check (char_length(name) between 1 and 100),
  add column created_by text,
  add column revoked_by text;

comment on column auth.api_keys.name is 'What people call it; null: it has no name.';
comment on column auth.api_keys.created_by is 'The key_id of the key that made it, or ''weir command''; null: made before this was kept.';
comment on column auth.api_keys.revoked_by is 'Who revoked it, as in created_by.';

create sequence auth.audit_ids;
create table auth.audit (
  audit_id bigint primary key default nextval('auth.audit_ids'),
  org_id text not null,
  at timestamptz(3) not null default now(),
  actor text not null,
  action text not null,
  subject text not null,
  request_id uuid,
  details jsonb not null default '{}',
  -- Of one request each thing is noted once: a request to make a key that comes twice makes one.
  constraint audit_once unique (request_id, action, org_id)
);
create index audit_of_organisation on auth.audit (org_id, audit_id);
create index audit_at on auth.audit (at);

comment on table auth.audit is 'What was done with an organisation''s keys, limits and records, and by whom; written in the transaction that does it. No secret stands here. Pruned by age.';
comment on column auth.audit.org_id is 'Whose keys, limits or records they are.';
comment on column auth.audit.actor is 'The key_id of the key by which it was done, or ''weir command''.';
comment on column auth.audit.action is 'What was done: key_issued, key_renamed, key_rotated, key_revoked, limits_set, retry_ordered, waiting_cancelled.';
comment on column auth.audit.subject is 'What it was done to: the id of a key, the organisation, the id of an order, or a type.';
comment on column auth.audit.request_id is 'The request that asked for it; null for most of what the weir command does.';
comment on column auth.audit.details is 'The rest, a few words and numbers.';
