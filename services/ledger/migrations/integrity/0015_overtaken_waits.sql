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
