-- Up Migration
alter table edge.requests add column lanes integer not null default 1;

comment on column edge.requests.batch_records is 'How many records each of its batches carries. The ids of the batches follow from that and from lanes.';
comment on column edge.requests.lanes is 'How many lanes it was cut by.';
