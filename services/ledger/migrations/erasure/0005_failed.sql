-- Up Migration
alter table erasure.erasures add column begun_at timestamptz(3) not null default now();
drop index erasure.erasures_running;
create index erasures_open on erasure.erasures (begun_at) where status <> 'done';

comment on column erasure.erasures.begun_at is 'When it was asked for, or begun once more: one that is not done a day later has failed.';
