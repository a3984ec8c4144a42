-- Up Migration
-- A record's journey tells with which key it was sent. The key's id only, and no reference to it: keys come and go, what was sent stays.
alter table integrity.verdicts add column key_id text;
alter table integrity.retry_orders add column key_id text;

comment on column integrity.verdicts.key_id is 'The id of the API key that the batch was sent with; null where it was sent without one, by integrity itself, or before keys were noted.';
comment on column integrity.retry_orders.key_id is 'The id of the API key that it was ordered with: what is submitted again for the order carries it.';
