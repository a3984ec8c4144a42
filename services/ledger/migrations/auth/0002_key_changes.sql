-- Up Migration
-- Every edge listens: what changes who may do what is known everywhere at once. last_used_at is not of that kind, and is
-- written by the edges themselves all the time.
create function auth.tell_key_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('weir_keys', coalesce(new.key_id, old.key_id));
  return null;
end
$$;

create trigger api_keys_changed
after insert or delete or update of org_id, key_hash, scopes, expires_at, revoked_at on auth.api_keys
for each row execute function auth.tell_key_change();
