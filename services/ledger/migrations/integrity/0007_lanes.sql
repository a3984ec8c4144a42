-- Up Migration
create table integrity.layouts (
  generation integer primary key,
  lanes integer not null,
  submitted_partitions integer not null,
  accepted_partitions integer not null,
  made_at timestamptz(3) not null default now()
);

comment on table integrity.layouts is 'How wide the system is. Written when it is first provisioned, and never changed: versions are places in these partitions.';
comment on column integrity.layouts.generation is 'Which log of each type: 0. Versions have room for 16 of them.';
comment on column integrity.layouts.lanes is 'How many lanes an organisation has in the submitted log of each type.';

create table integrity.request_bodies (
  request_id uuid primary key,
  body_sha256 bytea not null
);

comment on table integrity.request_bodies is 'The body that a request with an Idempotency-Key was first decided with, where organisations have several lanes: the batches of two bodies under one key may then be decided at the same time, and the first to be here counts. A row goes with the last verdict of its request.';
