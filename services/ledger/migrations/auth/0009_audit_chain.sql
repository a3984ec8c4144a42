-- Up Migration
-- The audit becomes a chain of hashes, one for each organisation, so that organisations never wait for each other. Triggers make it:
-- whatever writes to auth.audit need not know. What is lawful beside new rows:
--   pruning      select set_config('weir.audit', 'prune', true), then delete: the oldest rows of organisations, and no others
--   erasing      an update that puts the UUID of nobody in place of other UUIDs, in subject or details
--   an organisation that goes as a whole   select set_config('weir.audit', 'delete', true), then delete
-- each setting in the transaction that deletes.
alter table auth.audit
  alter column audit_id drop default,
  add column step integer not null default 0,
  add column salt bytea,
  add column content_sha256 bytea,
  add column previous bytea,
  add column chain bytea,
  add column redacted_at timestamptz(3),
  drop constraint audit_once,
  add constraint audit_once unique (request_id, action, org_id, step);

comment on table auth.audit is 'What was done with an organisation''s keys, limits and records, and by whom; written in the transaction that does it. No secret stands here. Only new rows come, each chained to the one before; the oldest are pruned by age.';
comment on column auth.audit.audit_id is 'In the order of the chain.';
comment on column auth.audit.step is 'What one request cancels in several steps is noted once for each, from 0 on; 0 for all else.';
comment on column auth.audit.salt is 'Random bytes, so that nobody finds out a content by guessing; null: destroyed, since an id was taken out of the row.';
comment on column auth.audit.content_sha256 is 'SHA-256 of the salt and of what auth.audit_content says, from when the row was written.';
comment on column auth.audit.previous is 'The chain of the row before, of the same organisation; empty in the first row.';
comment on column auth.audit.chain is 'SHA-256 of previous and content_sha256: the newest one stands for all rows before it.';
comment on column auth.audit.redacted_at is 'When the id of an erased person was taken out of the row.';

create function auth.audit_content(entry auth.audit) returns text language sql stable as $$
  select jsonb_build_object(
    'id', entry.audit_id, 'org', entry.org_id,
    'at', to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'actor', entry.actor, 'action', entry.action, 'subject', entry.subject,
    'request_id', entry.request_id, 'details', entry.details
  )::text
$$;
comment on function auth.audit_content is 'What is hashed of a row: the same text wherever and whenever it is asked for.';

create function auth.chained(entry auth.audit, before bytea) returns auth.audit language plpgsql as $$
begin
  entry.salt := uuid_send(gen_random_uuid());
  entry.content_sha256 := sha256(entry.salt || convert_to(auth.audit_content(entry), 'UTF8'));
  entry.previous := coalesce(before, '');
  entry.chain := sha256(entry.previous || entry.content_sha256);
  entry.redacted_at := null;
  return entry;
end
$$;
comment on function auth.chained is 'A row as it stands in the chain behind the row that has this chain.';

do $$
declare
  entry auth.audit;
  former auth.audit;
begin
  for entry in select * from auth.audit order by org_id, audit_id loop
    entry := auth.chained(entry, case when entry.org_id = former.org_id then former.chain end);
    update auth.audit
    set salt = entry.salt, content_sha256 = entry.content_sha256, previous = entry.previous, chain = entry.chain
    where audit_id = entry.audit_id;
    former := entry;
  end loop;
end
$$;

alter table auth.audit
  alter column content_sha256 set not null,
  alter column previous set not null,
  alter column chain set not null,
  add constraint audit_has_no_fork unique (org_id, previous);

create function auth.chain_audit() returns trigger language plpgsql as $$
begin
  -- Until the transaction ends. The id comes after it, and so does the snapshot that the newest row is read in.
  perform pg_advisory_xact_lock(hashtextextended('auth.audit ' || new.org_id, 0));
  new.audit_id := nextval('auth.audit_ids');
  new.step := case when new.action = 'waiting_cancelled' then (
    select count(*) from auth.audit
    where request_id = new.request_id and action = new.action and org_id = new.org_id
  ) else 0 end;
  return auth.chained(new, (
    select chain from auth.audit where org_id = new.org_id order by audit_id desc limit 1
  ));
end
$$;
comment on function auth.chain_audit is 'Chains each new row to the newest one of its organisation; others that write of the same organisation wait.';

create trigger audit_chained
before insert on auth.audit
for each row execute function auth.chain_audit();

create function auth.guard_audit() returns trigger language plpgsql as $$
declare
  uuid constant text := '[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}';
  ids constant text[] := array['subject', 'details'];
  was text;
  now_is text;
begin
  if tg_op = 'UPDATE' then
    was := old.subject || ' ' || old.details::text;
    now_is := new.subject || ' ' || new.details::text;
    if to_jsonb(new) - ids = to_jsonb(old) - ids
      and regexp_replace(was, uuid, '', 'g') = regexp_replace(now_is, uuid, '', 'g')
      and not exists (
        select
        from regexp_matches(was, uuid, 'g') with ordinality as former (id, place)
        full join regexp_matches(now_is, uuid, 'g') with ordinality as later (id, place) using (place)
        where former.id is distinct from later.id
          and later.id is distinct from array['00000000-0000-0000-0000-000000000000']
      )
    then
      if was <> now_is then
        new.salt := null;
        new.redacted_at := coalesce(old.redacted_at, now());
      end if;
      return new;
    end if;
  elsif coalesce(current_setting('weir.audit', true), '') in ('prune', 'delete') then
    return old;
  end if;
  raise exception 'auth.audit is append-only: no row is changed or removed'
    using errcode = 'restrict_violation',
      hint = 'The oldest rows are pruned by AUDIT_RETENTION_DAYS; what else is lawful the migration 0009_audit_chain.sql says.';
end
$$;
comment on function auth.guard_audit is 'Lets only lawful changes through: a guard against mistakes, not against a superuser, whose changes "weir audit verify" finds.';

create trigger audit_guarded
before update or delete on auth.audit
for each row execute function auth.guard_audit();

create trigger audit_not_truncated
before truncate on auth.audit
for each statement execute function auth.guard_audit();

create function auth.guard_pruning() returns trigger language plpgsql as $$
begin
  if current_setting('weir.audit', true) = 'prune' and exists (
    select
    from (select org_id, max(audit_id) as audit_id from gone group by org_id) as newest
    join auth.audit a on a.org_id = newest.org_id and a.audit_id < newest.audit_id
  ) then
    raise exception 'auth.audit is pruned from its oldest row on, without a gap' using errcode = 'restrict_violation';
  end if;
  return null;
end
$$;

create trigger audit_pruned
after delete on auth.audit
referencing old table as gone
for each statement execute function auth.guard_pruning();
