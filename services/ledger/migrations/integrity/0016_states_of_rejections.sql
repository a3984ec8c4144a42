-- Up Migration
-- Whether ClickHouse shows by itself that a rejection was submitted again: a later record of its id is there then. The others are
-- told to ClickHouse with each question about states.
alter table integrity.retries add column has_id boolean not null default false;
create index retries_of_org on integrity.retries (org_id, rejected_at);
comment on column integrity.retries.has_id is 'Whether the record has an id, so that the later record of that id shows that it was submitted again.';

-- An order may change the value of one field in all of its records.
alter table integrity.retry_orders add column change jsonb;
comment on column integrity.retry_orders.change is 'What is changed in each record before it is submitted: field and to; without to, the field is left out. Null where they go as they were sent.';
