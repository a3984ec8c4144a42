-- Up Migration
-- An order looks at a bounded number of rejections: where the next one goes on.
alter table integrity.retry_orders add column next_cursor text;

comment on column integrity.retry_orders.next_cursor is 'Where the next order goes on, as the answer named it; null where all that matched was looked at.';
