-- Up Migration
alter table integrity.layouts
  add column opened_at timestamptz(3) default now(),
  add column closed_ends jsonb,
  add column finished_at timestamptz(3);

update integrity.layouts set opened_at = made_at;

comment on table integrity.layouts is 'How wide the system is, one row for each generation of the submitted topics. "weir lanes change" adds one; versions are places in these partitions, so a row is never given another width.';
comment on column integrity.layouts.generation is 'Which topics hold the submitted log: 0, then 1, … Versions have room for 16 of them.';
comment on column integrity.layouts.opened_at is 'Since when edges write to the topics of this generation; null while it is being prepared.';
comment on column integrity.layouts.closed_ends is 'Where the topics of this generation end, by topic and partition, once nothing can be written to them any more.';
comment on column integrity.layouts.finished_at is 'Since when everything in them is decided and published; only then the next generation is decided.';
