-- Up Migration
comment on column auth.audit.action is 'What was done: key_issued, key_renamed, key_rotated, key_revoked, limits_set, retry_ordered, waiting_cancelled; records_mended is an upload that said which versions it replaces, noted by the edge a moment after it was accepted.';
