-- Up Migration
-- null: what the edges give to everybody; 0: no limit.
alter table auth.organisations
  add column requests_per_second integer check (requests_per_second >= 0),
  add column records_per_second integer check (records_per_second >= 0);

-- The edges keep an organisation's limits with its keys: they are told of a change as if the keys had changed.
create function auth.tell_limits_change() returns trigger language plpgsql as $$
begin
  perform pg_notify('weir_keys', key_id) from auth.api_keys where org_id = new.org_id;
  return null;
end
$$;

create trigger organisations_limits_changed
after update of requests_per_second, records_per_second on auth.organisations
for each row execute function auth.tell_limits_change();
