-- Up Migration
-- Each edge counts for itself; only added up here do many edges tell an operator who meets their limits.
create table auth.limit_hits (
  org_id text not null,
  hour timestamptz(3) not null,
  hits bigint not null,
  primary key (org_id, hour)
);
create index limit_hits_hour on auth.limit_hits (hour);

comment on table auth.limit_hits is 'How often keys of an organisation sent more than they may, and were answered 429: by the hour that it happened in. The edges add to it every two seconds. Pruned by age, with auth.audit.';
