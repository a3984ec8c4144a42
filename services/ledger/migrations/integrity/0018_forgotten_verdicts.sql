-- Up Migration
alter table integrity.cursors add column forgotten_until bigint not null default 0;

create table integrity.forgotten_verdicts (
  batch_id uuid primary key,
  verdict text not null
);

comment on column integrity.cursors.forgotten_until is 'Batches below this offset may have been decided and published by a Postgres that knew more than this one: see integrity.forgotten_verdicts.';
comment on table integrity.forgotten_verdicts is 'Verdicts that were published and that this Postgres had forgotten, because it went back to an earlier state. "weir accept-loss" brings them here from the topic weir.verdicts; when its batch is decided again, a verdict is taken out.';
comment on column integrity.forgotten_verdicts.verdict is 'What was published, as JSON. Text, because a refused value may hold what the type json does not take.';
