-- Up Migration
-- The console shows an organisation what became of what it sent lately. Without this index that would read the verdicts of everybody.
create index verdicts_of_organisation on integrity.verdicts (org_id, type, decided_at);
