-- Up Migration
create table integrity.retry_orders (
  order_id uuid primary key,
  org_id text not null,
  body_sha256 bytea not null,
  ordered_at timestamptz(3) not null default now(),
  matched integer not null,
  submitted integer not null,
  skipped json not null
);
create index retry_orders_ordered_at on integrity.retry_orders (ordered_at);

comment on table integrity.retry_orders is 'What an uploader asked to have submitted again (POST /v1/rejections/retry): an order is written together with its claims in integrity.retries, and any edge sends those.';
comment on column integrity.retry_orders.order_id is 'The request_id of that call.';
comment on column integrity.retry_orders.submitted is 'How many rejections were claimed for it. A claim that is gone without an outcome was given up before it was sent.';
comment on column integrity.retry_orders.skipped is 'How many were left out, by reason.';

alter table integrity.retries add column order_id uuid;
alter table integrity.retries add column sent_at timestamptz(3);
create index retries_order_id on integrity.retries (order_id) where order_id is not null;
create index retries_ordered on integrity.retries (org_id, claimed_at) where outcome is null and order_id is not null;

comment on table integrity.retries is 'Refused records that were submitted again, by an operator or by their uploader: each rejection is claimed once, by its primary key, before it is sent.';
comment on column integrity.retries.order_id is 'The order that it was claimed for; null where an operator retried it.';
comment on column integrity.retries.sent_at is 'When an edge began to send it for an order. Until then it may be given back alone.';
