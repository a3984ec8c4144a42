-- Up Migration
create table operator.segments (
  org_id text not null references auth.organisations (org_id),
  segment text not null,
  version integer not null,
  condition text not null,
  about text not null default '',
  created_at timestamptz(3) not null default now(),
  dropped_at timestamptz(3),
  primary key (org_id, segment, version)
);

comment on table operator.segments is 'Own segments of organisations, every version of each: the last one holds. ClickHouse has a copy, which "weir provision" makes anew.';
comment on column operator.segments.segment is 'Its name.';
comment on column operator.segments.version is 'Counts how often its condition was set, from 1 on.';
comment on column operator.segments.condition is 'Who is in it: an expression of SQL about a customer, which was checked.';
comment on column operator.segments.about is 'What it is for.';
comment on column operator.segments.dropped_at is 'Since when it is no longer wanted; null where it is.';
