-- Up Migration
create schema if not exists operator;

create table operator.verifications (
  ran_at timestamptz(3) primary key default now(),
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  differences integer not null,
  is_clean boolean not null
);

comment on table operator.verifications is 'What "weir verify" found when it compared all organisations and types: the last 100 runs. Dashboards, alerts and "weir status" show the newest.';
comment on column operator.verifications.ran_at is 'When the run ended.';
comment on column operator.verifications.since is 'From when on what was submitted was compared.';
comment on column operator.verifications.until is 'Up to when.';
comment on column operator.verifications.differences is 'How many differences are left: those that the run mended are not counted.';
comment on column operator.verifications.is_clean is 'Whether nothing differs, apart from what was mended.';
