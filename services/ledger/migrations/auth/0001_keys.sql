-- Up Migration
create schema if not exists auth;

create table auth.organisations (
  org_id text primary key,
  created_at timestamptz not null default now()
);

create table auth.api_keys (
  key_id text primary key,
  org_id text not null references auth.organisations,
  -- SHA-256 of the whole key. A key has 190 random bits, so a slow hash would guard nothing more.
  key_hash bytea not null unique,
  -- null: all of them
  scopes text[],
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz
);

create index api_keys_org_id on auth.api_keys (org_id);
