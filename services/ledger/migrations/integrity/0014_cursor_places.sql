-- Up Migration
-- An integrity from before integrity.waiting ends no wait when a newer record of its id comes. Such a version does not name the column
-- `gone` when it stores a verdict: that is how the database knows it, whatever was deployed when.
alter table integrity.cursors add column overtaken_until bigint not null default 0;
alter table integrity.verdicts alter column gone drop default;

comment on column integrity.cursors.overtaken_until is 'Up to here an integrity decided that knew nothing of waiting: a record that waits since before may have been overtaken by a newer one of its id, and is refused when it is decided anew.';

create function integrity.note_overtaken() returns trigger language plpgsql as $$
begin
  update integrity.cursors
  set overtaken_until = new.submitted_offset + 1
  where topic = new.topic and partition = new.partition and overtaken_until <= new.submitted_offset;
  new.gone := '{}';
  return new;
end
$$;
comment on function integrity.note_overtaken is 'Notes in integrity.cursors up to where a version decided that knew nothing of waiting.';

create trigger verdicts_without_waiting
before insert on integrity.verdicts
for each row when (new.gone is null) execute function integrity.note_overtaken();

alter table integrity.cursors add column pruned_until bigint not null default 0;
alter table integrity.cursors add column replayed_from bigint;

comment on column integrity.cursors.pruned_until is 'Verdicts below this offset may be gone, above it none is: where the log is read again, no event from below it is published again, because a newer one may be among those that cannot be made any more.';
comment on column integrity.cursors.replayed_from is 'Where the last fetch began that read again what was decided before; null where the last fetch was new. Nothing from there on is pruned, whatever the group had committed before: a record''s newer event is published again after its older one, or neither is.';

-- In the database, so that it holds whichever version prunes.
create function integrity.note_pruned() returns trigger language plpgsql as $$
begin
  update integrity.cursors c
  set pruned_until = greatest(c.pruned_until, last.pruned + 1)
  from (select topic, partition, max(submitted_offset) as pruned from gone group by topic, partition) last
  where c.topic = last.topic and c.partition = last.partition;
  return null;
end
$$;
comment on function integrity.note_pruned is 'Notes in integrity.cursors up to where verdicts are gone.';

create trigger verdicts_pruned
after delete on integrity.verdicts
referencing old table as gone
for each statement execute function integrity.note_pruned();

-- What was pruned before this migration is not known by its offsets. It was decided before pruned_before, and so was, but for a
-- minute by which clocks may differ, all that lies below it and was kept: because it came again, or because something of it waited.
update integrity.cursors c
set pruned_until = coalesce((
  select max(v.submitted_offset) + 1
  from integrity.verdicts v
  where v.topic = c.topic and v.partition = c.partition and v.decided_at < c.pruned_before + interval '1 minute'
    and (v.repeated_at is not null or v.waiting is not null)
), 0)
where c.pruned_before is not null;
