-- Up Migration
create table integrity.keyed_requests (
  request_id uuid not null,
  batch_id uuid not null,
  place integer not null,
  is_accepted boolean not null,
  decided_at timestamptz(3) not null,
  primary key (request_id, batch_id, place)
);

create index keyed_requests_decided_at on integrity.keyed_requests (decided_at);

comment on table integrity.keyed_requests is 'In which batch the verdict on each interaction is that came with an Idempotency-Key, by the request id that is derived from the key. An interaction that was refused may be sent again with its key, and has a row for each time that it was decided.';
comment on column integrity.keyed_requests.place is 'The place of the interaction in the batch.';
