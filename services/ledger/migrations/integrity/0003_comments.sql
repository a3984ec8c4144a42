-- Up Migration
comment on table integrity.cursors is 'The fence, a row for each partition of the submitted log: batches below next_offset are decided, and are never decided again.';
comment on column integrity.cursors.pruned_before is 'Verdicts of this partition that were last used before this moment may be gone; null where none was ever pruned.';

comment on table integrity.entities is 'The entity index: every record that another record may refer to. It only grows.';

comment on table integrity.verdicts is 'The decision on each batch.';
comment on column integrity.verdicts.refused is 'json, not jsonb: a refused record may hold characters that jsonb cannot.';
comment on column integrity.verdicts.repeated is 'Places in the batch of keyed records that were taken before: accepted, but not published again.';
comment on column integrity.verdicts.topic is 'topic, partition and submitted_offset name the message of the submitted log that was decided.';
comment on column integrity.verdicts.repeated_at is 'When the batch last came again. A verdict is kept by its last use: this moment, or else decided_at.';

comment on table integrity.keyed_interactions is 'Interactions that came with an Idempotency-Key: each is taken once.';

comment on table integrity.retries is 'Refused records that an operator submitted again: each rejection is claimed once, by its primary key, before it is sent.';
comment on column integrity.retries.retry_id is 'The Idempotency-Key of the request that the record was sent in.';
comment on column integrity.retries.place is 'The place of the record among that request''s records.';
comment on column integrity.retries.outcome is 'Known once the request was answered. Until then the next run sends the same request again.';
