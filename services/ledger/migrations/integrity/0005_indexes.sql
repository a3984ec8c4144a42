-- Up Migration
-- Nothing looks for verdicts by this moment alone: pruning goes by verdicts_last_used.
drop index integrity.verdicts_decided_at;
