-- Up Migration
create schema if not exists query;

create table query.saved_queries (
  org_id text not null,
  name text not null check (char_length(name) between 1 and 60),
  query text not null,
  about text,
  version integer not null default 1,
  saved_at timestamptz(3) not null default now(),
  saved_by text not null,
  primary key (org_id, name)
);

comment on table query.saved_queries is 'The queries that the people of an organisation share (GET /v1/queries). They are texts: nothing runs them by itself.';
comment on column query.saved_queries.about is 'What it answers, in words; null: nobody wrote that down.';
comment on column query.saved_queries.version is 'Grows by one each time that it is saved: who saves it anew says which one they know.';
comment on column query.saved_queries.saved_by is 'The key_id of the key that saved it last.';
