-- Up Migration
-- Verdicts of an organisation that is deleted go with their batches, which are no longer in the log: nothing of theirs can be read again.
-- So they do not count as pruned, which would end the feeds of every organisation that has the same partition, and hold it meanwhile.
create or replace function integrity.note_pruned() returns trigger language plpgsql as $$
begin
  if current_setting('weir.deleted_organisation', true) = 'on' then
    return null;
  end if;
  update integrity.cursors c
  set pruned_until = greatest(c.pruned_until, last.pruned + 1)
  from (select topic, partition, max(submitted_offset) as pruned from gone group by topic, partition) last
  where c.topic = last.topic and c.partition = last.partition;
  return null;
end
$$;
comment on function integrity.note_pruned is 'Notes in integrity.cursors up to where verdicts are gone.';
