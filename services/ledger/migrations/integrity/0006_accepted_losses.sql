-- Up Migration
create table integrity.accepted_losses (
  topic text not null,
  partition integer not null,
  from_offset bigint not null,
  until_offset bigint not null,
  accepted_at timestamptz(3) not null default now(),
  primary key (topic, partition, from_offset)
);

comment on table integrity.accepted_losses is 'Offsets of the submitted log that Kafka lost after they were decided, and whose loss an operator accepted (weir accept-loss): whatever lies there now without a verdict is passed over.';
comment on column integrity.accepted_losses.until_offset is 'The first offset that is not lost any more: where the cursor stood.';
