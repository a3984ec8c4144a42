-- Up Migration
comment on table auth.organisations is 'The organisations that send records, and how much each of them may send in a second.';
comment on column auth.organisations.requests_per_second is 'null: the limit that the edges give to everybody; 0: no limit';
comment on column auth.organisations.records_per_second is 'null: the limit that the edges give to everybody; 0: no limit';

comment on table auth.api_keys is 'The keys that requests are sent with. Of a key''s text only the hash is kept.';
comment on column auth.api_keys.key_hash is 'SHA-256 of the whole text. A key has 190 random bits, so a slow hash would guard nothing more.';
comment on column auth.api_keys.scopes is 'null: all of them';

comment on function auth.tell_key_change() is 'Every edge listens on weir_keys: a key that is changed or revoked is known everywhere at once. A change of last_used_at is not announced: the edges themselves write it all the time.';
comment on function auth.tell_limits_change() is 'The edges keep an organisation''s limits with its keys, so a change of the limits is announced as a change of each of its keys.';
