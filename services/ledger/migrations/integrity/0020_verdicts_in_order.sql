-- Up Migration
-- A feed reads what was decided for one organisation in the order of the log, from a place on. Without this index that would read the
-- verdicts of everybody.
create index verdicts_in_order on integrity.verdicts (org_id, topic, partition, submitted_offset);
