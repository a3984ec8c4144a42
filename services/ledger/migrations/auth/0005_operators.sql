-- Up Migration
-- An operator's key sees every organisation, and issues keys; `weir keys issue --operator` makes one.
alter table auth.api_keys add column is_operator boolean not null default false;

comment on column auth.api_keys.is_operator is 'Whether it is an operator''s: it sees every organisation, and issues keys for them.';
