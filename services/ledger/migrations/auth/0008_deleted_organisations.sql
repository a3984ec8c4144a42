-- Up Migration
alter table auth.organisations add column deleted_at timestamptz(3);

comment on column auth.organisations.deleted_at is 'Since when nothing comes in for it and all it had is removed; its id is not given again. Null: it is there.';
