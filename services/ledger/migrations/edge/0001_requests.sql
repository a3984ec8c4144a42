-- Up Migration
create schema if not exists edge;

-- Requests that were not answered quickly: known here before anything of them is decided. Once all of a request is, its
-- verdicts tell everything that this row does.
create table edge.requests (
  request_id uuid primary key,
  org_id text not null,
  type text not null,
  body_sha256 bytea not null,
  -- How many records each of its batches carries; the batches' ids follow from that.
  batch_records integer[] not null,
  submitted_at timestamptz(3) not null,
  -- How many of its batches, from the first on, Kafka is known to have; null while they are being published.
  written integer
);

create index requests_submitted_at on edge.requests (submitted_at);
