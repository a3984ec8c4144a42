-- Up Migration
-- Operators order retries as uploaders do (weir rejected retry): an order for each organisation and run, which edges work off.
alter table integrity.retry_orders add column by_operator boolean not null default false;
alter table integrity.retry_orders add column even_superseded boolean not null default false;

comment on table integrity.retry_orders is 'What an uploader (POST /v1/rejections/retry) or an operator (weir rejected retry) asked to have submitted again: its claims are in integrity.retries, and any edge sends those.';
comment on column integrity.retry_orders.order_id is 'The request_id of the uploader''s call; an operator''s run has one of its own for each organisation.';
comment on column integrity.retry_orders.by_operator is 'Whether an operator ordered it; uploaders are not told of such an order.';
comment on column integrity.retry_orders.even_superseded is 'Whether a record is sent even where a later one of the same id was accepted.';
comment on column integrity.retries.order_id is 'The order that it was claimed for; null where an operator of an older version sent it without one.';
