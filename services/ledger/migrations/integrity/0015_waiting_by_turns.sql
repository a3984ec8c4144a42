-- Up Migration
-- The relay goes by turns between organisations. An index that begins with the minute leads from one organisation that has something
-- due to the next: over a hundred thousand rows of one of them in a single step, and past all whose rows are due later.
create index waiting_until_turns on integrity.waiting (date_trunc('minute', until at time zone 'UTC'), org_id, until)
  where state = 'waiting' and due_at is null;
create index waiting_due_turns on integrity.waiting (date_trunc('minute', due_at at time zone 'UTC'), org_id, due_at)
  where state = 'waiting' and due_at is not null;
create index waiting_arrived_turns on integrity.waiting_arrived (org_id, arrived_at);
drop index integrity.waiting_until;
drop index integrity.waiting_due;
drop index integrity.waiting_arrived_at;

-- No rewrite of the table, which may be large: rows that are there have no size, and are gone when their time is over.
alter table integrity.waiting add column size integer;
comment on column integrity.waiting.size is 'How many bytes its message has, for the bound on an organisation''s waiting bytes; null where a version without that bound wrote the row.';

-- The index that counts an organisation's waiting records now adds up their bytes too, without reading the rows.
create unique index waiting_record_sizes on integrity.waiting (org_id, type, id) include (size) where state = 'waiting';
drop index integrity.waiting_record;
alter index integrity.waiting_record_sizes rename to waiting_record;
