-- Up Migration
create table erasure.retention (
  org_id text not null,
  type text not null,
  keep text not null,
  set_by text not null,
  set_at timestamptz(3) not null default now(),
  primary key (org_id, type)
);
comment on table erasure.retention is 'How long records of a type are kept (weir retention set).';
comment on column erasure.retention.org_id is 'Whose; ''*'' of every organisation that has no rule of its own.';
comment on column erasure.retention.keep is 'A number with d, mo or y: days, months or years.';

create table erasure.retention_runs (
  run_id uuid primary key,
  began_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  removed jsonb not null default '[]',
  problem text
);
comment on table erasure.retention_runs is 'When records that are too old were removed, and how many of each type and place. A run that found nothing leaves no row but the last.';

-- Whoever has topics compacted for a while keeps here how they were set before.
create table erasure.topic_configs (
  is_only boolean primary key default true check (is_only),
  configs jsonb not null
);
comment on table erasure.topic_configs is 'How topics are to be set again that are compacted while something is removed from them.';
insert into erasure.topic_configs (configs)
select topic_configs from erasure.erasures where topic_configs is not null limit 1;
alter table erasure.erasures drop column topic_configs;

alter table erasure.holes alter column erasure_id drop not null;
comment on table erasure.holes is 'Batches that were removed from the submitted log. What others had in them is in the accepted topics and in ClickHouse.';
comment on column erasure.holes.erasure_id is 'By which erasure; null: it was too old (weir retention).';
