-- Up Migration
-- Verdicts on interactions go after a day, except those on requests with an Idempotency-Key, whose ids are of version 8. Without this
-- index, pruning would read all of these each time to find the others.
create index verdicts_unkeyed_last_used on integrity.verdicts (topic, partition, (coalesce(repeated_at, decided_at)))
  where type = 'interactions' and substr(request_id::text, 15, 1) <> '8';
