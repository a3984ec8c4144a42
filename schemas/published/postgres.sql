-- The tables of Weir in Postgres, as the migrations in services/ledger/migrations leave them. Derived by
-- services/ledger/describe-schema.ts; to write it anew: npm run publish-schemas

create schema auth;
create schema delivery;
create schema edge;
create schema erasure;
create schema integrity;
create schema operator;
create schema query;

create sequence auth.audit_ids;
create sequence delivery.places;
create sequence integrity.waiting_changes;

-- The organisations that send records, and how much each of them may send in a second.
create table auth.organisations (
  org_id text not null,
  created_at timestamptz not null default now(),
  -- null: the limit that the edges give to everybody; 0: no limit
  requests_per_second integer,
  -- null: the limit that the edges give to everybody; 0: no limit
  records_per_second integer,
  -- Since when nothing comes in for it and all it had is removed; its id is not given again. Null: it is there.
  deleted_at timestamptz(3),
  constraint organisations_pkey primary key (org_id),
  constraint organisations_records_per_second_check check (records_per_second >= 0),
  constraint organisations_requests_per_second_check check (requests_per_second >= 0)
);

-- The keys that requests are sent with. Of a key's text only the hash is kept.
create table auth.api_keys (
  key_id text not null,
  org_id text not null,
  -- SHA-256 of the whole text. A key has 190 random bits, so a slow hash would guard nothing more.
  key_hash bytea not null,
  -- null: all of them
  scopes text[],
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  -- Whether it is an operator's: it sees every organisation, and issues keys for them.
  is_operator boolean not null default false,
  -- What people call it; null: it has no name.
  name text,
  -- The key_id of the key that made it, or 'weir command'; null: made before this was kept.
  created_by text,
  -- Who revoked it, as in created_by.
  revoked_by text,
  constraint api_keys_pkey primary key (key_id),
  constraint api_keys_key_hash_key unique (key_hash),
  constraint api_keys_name_check check (char_length(name) >= 1 and char_length(name) <= 100),
  constraint api_keys_org_id_fkey foreign key (org_id) references auth.organisations(org_id)
);
create index api_keys_org_id on auth.api_keys (org_id);

-- What was done with an organisation's keys, limits and records, and by whom; written in the transaction that does it.
-- No secret stands here. Only new rows come, each chained to the one before; the oldest are pruned by age.
create table auth.audit (
  -- In the order of the chain.
  audit_id bigint not null,
  -- Whose keys, limits or records they are.
  org_id text not null,
  at timestamptz(3) not null default now(),
  -- The key_id of the key by which it was done, or 'weir command'.
  actor text not null,
  -- What was done: key_issued, key_renamed, key_rotated, key_revoked, limits_set, retry_ordered, records_mended (sent
  -- with if_version), waiting_cancelled.
  action text not null,
  -- What it was done to: the id of a key, the organisation, the id of an order, or a type.
  subject text not null,
  -- The request that asked for it; null for most of what the weir command does.
  request_id uuid,
  -- The rest, a few words and numbers.
  details jsonb not null default '{}'::jsonb,
  -- What one request cancels in several steps is noted once for each, from 0 on; 0 for all else.
  step integer not null default 0,
  -- Random bytes, so that nobody finds out a content by guessing; null: destroyed, since an id was taken out of the
  -- row.
  salt bytea,
  -- SHA-256 of the salt and of what auth.audit_content says, from when the row was written.
  content_sha256 bytea not null,
  -- The chain of the row before, of the same organisation; empty in the first row.
  previous bytea not null,
  -- SHA-256 of previous and content_sha256: the newest one stands for all rows before it.
  chain bytea not null,
  -- When the id of an erased person was taken out of the row.
  redacted_at timestamptz(3),
  constraint audit_pkey primary key (audit_id),
  constraint audit_has_no_fork unique (org_id, previous),
  constraint audit_once unique (request_id, action, org_id, step)
);
create index audit_at on auth.audit (at);
create index audit_of_organisation on auth.audit (org_id, audit_id);

-- How often keys of an organisation sent more than they may, and were answered 429: by the hour that it happened in.
-- The edges add to it every two seconds. Pruned by age, with auth.audit.
create table auth.limit_hits (
  org_id text not null,
  hour timestamptz(3) not null,
  hits bigint not null,
  constraint limit_hits_pkey primary key (org_id, hour)
);
create index limit_hits_hour on auth.limit_hits (hour);

-- Where an organisation wants to be told of what happens (POST /v1/webhooks).
create table delivery.webhooks (
  webhook_id uuid not null default gen_random_uuid(),
  org_id text not null,
  url text not null,
  events text[] not null,
  -- What deliveries are signed with, as whsec_ and base64. It has to be known to sign, so no hash of it would do.
  secret text not null,
  -- The secret before the last rotation: until former_until deliveries are signed with it, too.
  former_secret text,
  former_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  -- Since when nothing is delivered; null: it is. What happens meanwhile is delivered once it is enabled.
  disabled_at timestamptz(3),
  disabled_reason text,
  constraint webhooks_pkey primary key (webhook_id),
  constraint webhooks_org_id_fkey foreign key (org_id) references auth.organisations(org_id)
);
create index webhooks_of_organisation on delivery.webhooks (org_id, created_at);

-- What is delivered to a webhook one after another: a queue for each event, and one for what people ask for by hand.
create table delivery.queues (
  webhook_id uuid not null,
  -- The event; or extra: tests, and deliveries that are made again.
  queue text not null,
  org_id text not null,
  -- A place in the submitted log: what was decided before it has been delivered, or is a pending delivery.
  read_to text,
  -- When the delivery service looks at it next.
  due_at timestamptz(3) not null default now(),
  -- Nothing new is put together before this moment.
  not_before timestamptz(3) not null default now(),
  -- How often its first pending delivery has failed since the last success.
  tries integer not null default 0,
  -- Grows each time that something was decided for the organisation: who works on the queue sees whether it has to look
  -- again.
  woken bigint not null default 0,
  -- Which piece of work of a delivery service has it, until leased_until.
  lease uuid,
  leased_until timestamptz(3),
  constraint queues_pkey primary key (webhook_id, queue),
  constraint queues_webhook_id_fkey foreign key (webhook_id) references delivery.webhooks(webhook_id) on delete cascade
);
create index queues_of_organisation on delivery.queues (org_id);

-- What was, or is to be, delivered to webhooks: stored before its first attempt, so that its id is the same at each
-- one.
create table delivery.deliveries (
  -- The webhook-id that receivers see.
  delivery_id text not null,
  -- Counts deliveries: those of a queue are delivered in this order.
  place bigint not null default nextval('delivery.places'::regclass),
  webhook_id uuid not null,
  event text not null,
  queue text not null,
  state text not null default 'pending'::text,
  created_at timestamptz(3) not null default now(),
  records integer,
  -- What is sent. Of accepted records gone once it was delivered: it is made again from the log.
  body text,
  -- Of accepted records: where in the log they begin.
  read_from text,
  -- And where they end.
  read_to text,
  attempts integer not null default 0,
  -- The last attempts: at, status, ms, problem or answer.
  tried jsonb not null default '[]'::jsonb,
  -- When it was first tried since the webhook was enabled, or since it was asked for again.
  first_tried_at timestamptz(3),
  ended_at timestamptz(3),
  constraint deliveries_pkey primary key (delivery_id),
  constraint deliveries_state_check check (state = any (array['pending'::text, 'delivered'::text, 'failed'::text])),
  constraint deliveries_webhook_id_fkey foreign key (webhook_id) references delivery.webhooks(webhook_id) on delete cascade
);
create index deliveries_ended on delivery.deliveries (ended_at) where state <> 'pending'::text;
create index deliveries_of_webhook on delivery.deliveries (webhook_id, place);
create index deliveries_pending on delivery.deliveries (webhook_id, queue, place) where state = 'pending'::text;

-- Requests that were not answered quickly: noted here before anything of them is decided. Once all of a request is
-- decided, its verdicts say everything that this row does.
create table edge.requests (
  request_id uuid not null,
  org_id text not null,
  type text not null,
  body_sha256 bytea not null,
  -- How many records each of its batches carries. The ids of the batches follow from that and from lanes.
  batch_records integer[] not null,
  submitted_at timestamptz(3) not null,
  -- How many of its batches, from the first on, Kafka is known to have; null while they are being published.
  written integer,
  -- How many lanes it was cut by.
  lanes integer not null default 1,
  constraint requests_pkey primary key (request_id)
);
create index requests_submitted_at on edge.requests (submitted_at);

-- Who is to be forgotten (POST /v1/erasures), or which whole organisation (weir orgs delete), and what became of it.
create table erasure.erasures (
  erasure_id uuid not null,
  org_id text not null,
  mode text not null,
  afterwards text not null,
  is_dry_run boolean not null,
  -- As it was asked for; null once nothing is left of the person.
  person_id text,
  -- The ids under which the person is known: found once, since nothing tells them when the records are gone. Null like
  -- person_id.
  known jsonb,
  -- A hash of person_id with the salt of the organisation: by it the erasure is found again by whoever knows the id.
  person_sha256 bytea not null,
  -- The same of all ids in known: by these the proof is made, as often as it is asked for.
  names_sha256 bytea[] not null default '{}'::bytea[],
  status text not null default 'running'::text,
  step text not null default 'asked'::text,
  asked_by text not null,
  request_id text,
  asked_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  -- What was found before anything was removed, by place.
  found jsonb,
  -- The proof, as the signature covers it.
  report text,
  signature text,
  problem text,
  -- When everything was read once more, a day or two after the end, and nothing had come back.
  looked_again_at timestamptz(3),
  -- When it was asked for, or begun once more: one that is not done a day later has failed.
  begun_at timestamptz(3) not null default now(),
  constraint erasures_pkey primary key (erasure_id),
  constraint erasures_afterwards_check check (afterwards = any (array['refuse'::text, 'new'::text])),
  constraint erasures_mode_check check (mode = any (array['erase'::text, 'pseudonymise'::text, 'organisation'::text])),
  constraint erasures_org_id_fkey foreign key (org_id) references auth.organisations(org_id),
  constraint erasures_status_check check (status = any (array['running'::text, 'done'::text, 'failed'::text]))
);
create index erasures_of_organisation on erasure.erasures (org_id, asked_at);
create index erasures_open on erasure.erasures (begun_at) where status <> 'done'::text;
create index erasures_to_look_at on erasure.erasures (ended_at) where looked_again_at is null;

-- Organisations that have had somebody erased.
create table erasure.gates (
  org_id text not null,
  salt bytea not null,
  -- Grows whenever erasure.persons changes: who has read those before sees that they have to be read anew.
  change bigint not null,
  constraint gates_pkey primary key (org_id),
  constraint gates_org_id_fkey foreign key (org_id) references auth.organisations(org_id)
);

-- Whose records are refused, by hashes of the ids with the salt of the organisation.
create table erasure.persons (
  org_id text not null,
  -- Of an organisation that is deleted as a whole, that of its own id: then every record of it is refused.
  name_sha256 bytea not null,
  erasure_id uuid not null,
  -- When integrity last refused a record of the person, which lies in the log since: the erasure is done once more,
  -- some time after.
  seen_at timestamptz(3),
  constraint persons_pkey primary key (org_id, name_sha256),
  constraint persons_erasure_id_fkey foreign key (erasure_id) references erasure.erasures(erasure_id),
  constraint persons_org_id_fkey foreign key (org_id) references erasure.gates(org_id)
);
create index persons_seen on erasure.persons (seen_at) where seen_at is not null;

-- Batches that were removed from the submitted log. What others had in them is in the accepted topics and in
-- ClickHouse.
create table erasure.holes (
  topic text not null,
  partition integer not null,
  submitted_offset bigint not null,
  -- By which erasure; null: it was too old (weir retention).
  erasure_id uuid,
  constraint holes_pkey primary key (topic, partition, submitted_offset),
  constraint holes_erasure_id_fkey foreign key (erasure_id) references erasure.erasures(erasure_id)
);

-- What proofs are signed with: an Ed25519 key as PEM, made when the first proof is.
create table erasure.signing_key (
  is_only boolean not null default true,
  private_key text not null,
  public_key text not null,
  constraint signing_key_pkey primary key (is_only),
  constraint signing_key_is_only_check check (is_only)
);

-- How long records of a type are kept (weir retention set).
create table erasure.retention (
  -- Whose; '*' of every organisation that has no rule of its own.
  org_id text not null,
  type text not null,
  -- A number with d, mo or y: days, months or years.
  keep text not null,
  set_by text not null,
  set_at timestamptz(3) not null default now(),
  constraint retention_pkey primary key (org_id, type)
);

-- When records that are too old were removed, and how many of each type and place. A run that found nothing leaves no
-- row but the last.
create table erasure.retention_runs (
  run_id uuid not null,
  began_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  removed jsonb not null default '[]'::jsonb,
  problem text,
  constraint retention_runs_pkey primary key (run_id)
);

-- How topics are to be set again that are compacted while something is removed from them.
create table erasure.topic_configs (
  is_only boolean not null default true,
  configs jsonb not null,
  constraint topic_configs_pkey primary key (is_only),
  constraint topic_configs_is_only_check check (is_only)
);

-- The fence, a row for each partition of the submitted log: batches below next_offset are decided, and are never
-- decided again.
create table integrity.cursors (
  topic text not null,
  partition integer not null,
  next_offset bigint not null,
  -- Verdicts of this partition that were last used before this moment may be gone; null where none was ever pruned.
  pruned_before timestamptz(3),
  -- Up to here an integrity decided that knew nothing of waiting: a record that waits since before may have been
  -- overtaken by a newer one of its id, and is refused when it is decided anew.
  overtaken_until bigint not null default 0,
  -- Verdicts below this offset may be gone, above it none is: where the log is read again, no event from below it is
  -- published again, because a newer one may be among those that cannot be made any more.
  pruned_until bigint not null default 0,
  -- Where the last fetch began that read again what was decided before; null where the last fetch was new. Nothing from
  -- there on is pruned, whatever the group had committed before: a record's newer event is published again after its
  -- older one, or neither is.
  replayed_from bigint,
  -- Batches below this offset may have been decided and published by a Postgres that knew more than this one: see
  -- integrity.forgotten_verdicts.
  forgotten_until bigint not null default 0,
  constraint cursors_pkey primary key (topic, partition)
);

-- The entity index: every record that another record may refer to. It only grows.
create table integrity.entities (
  org_id text not null,
  type text not null,
  id uuid not null,
  constraint entities_pkey primary key (org_id, type, id)
);

-- The decision on each batch.
create table integrity.verdicts (
  batch_id uuid not null,
  org_id text not null,
  request_id uuid not null,
  type text not null,
  batch integer not null,
  batches integer not null,
  first_index integer not null,
  body_sha256 bytea not null,
  accepted integer not null,
  -- json, not jsonb: a refused record may hold characters that jsonb cannot.
  refused json not null,
  -- Places in the batch of keyed records that were taken before: accepted, but not published again.
  repeated integer[] not null,
  decided_at timestamptz(3) not null,
  -- topic, partition and submitted_offset name the message of the submitted log that was decided.
  topic text not null,
  partition integer not null,
  submitted_offset bigint not null,
  -- When the batch last came again. A verdict is kept by its last use: this moment, or else decided_at.
  repeated_at timestamptz(3),
  -- Records of the batch that began to wait; what became of them is in integrity.waiting.
  waiting json,
  -- Places of records that were to be decided anew and no longer waited: nothing happened to them.
  gone integer[] not null,
  -- The id of the API key that the batch was sent with; null where it was sent without one, by integrity itself, or
  -- before keys were noted.
  key_id text,
  constraint verdicts_pkey primary key (batch_id)
);
create index verdicts_in_order on integrity.verdicts (org_id, topic, partition, submitted_offset);
create index verdicts_last_used on integrity.verdicts (topic, partition, coalesce(repeated_at, decided_at));
create index verdicts_of_organisation on integrity.verdicts (org_id, type, decided_at);
create index verdicts_request_id on integrity.verdicts (request_id);
create index verdicts_unkeyed_last_used on integrity.verdicts (topic, partition, coalesce(repeated_at, decided_at)) where type = 'interactions'::text and substr(request_id::text, 15, 1) <> '8'::text;

-- Interactions that came with an Idempotency-Key: each is taken once.
create table integrity.keyed_interactions (
  org_id text not null,
  interaction_id uuid not null,
  body_sha256 bytea not null,
  recorded_at timestamptz(3) not null,
  constraint keyed_interactions_pkey primary key (org_id, interaction_id)
);
create index keyed_interactions_recorded_at on integrity.keyed_interactions (recorded_at);

-- Refused records that were submitted again, by an operator or by their uploader: each rejection is claimed once, by
-- its primary key, before it is sent.
create table integrity.retries (
  batch_id uuid not null,
  index integer not null,
  org_id text not null,
  type text not null,
  rejected_at timestamptz(3) not null,
  -- The Idempotency-Key of the request that the record was sent in.
  retry_id uuid not null,
  -- The place of the record among that request's records.
  place integer not null,
  claimed_at timestamptz(3) not null default now(),
  -- Known once the request was answered. Until then the next run sends the same request again.
  outcome text,
  request_id uuid,
  answered_at timestamptz(3),
  -- The order that it was claimed for; null where an operator of an older version sent it without one.
  order_id uuid,
  -- When an edge began to send it for an order. Until then it may be given back alone.
  sent_at timestamptz(3),
  -- Whether the record has an id, so that the later record of that id shows that it was submitted again.
  has_id boolean not null default false,
  constraint retries_pkey primary key (batch_id, index),
  constraint retries_outcome_check check (outcome = any (array['accepted'::text, 'refused'::text]))
);
create index retries_of_org on integrity.retries (org_id, rejected_at);
create index retries_order_id on integrity.retries (order_id) where order_id is not null;
create index retries_ordered on integrity.retries (org_id, claimed_at) where outcome is null and order_id is not null;
create index retries_rejected_at on integrity.retries (rejected_at);
create index retries_retry_id on integrity.retries (retry_id);
create index retries_unanswered on integrity.retries (claimed_at) where outcome is null;

-- In which batch the verdict on each interaction is that came with an Idempotency-Key, by the request id that is
-- derived from the key. An interaction that was refused may be sent again with its key, and has a row for each time
-- that it was decided.
create table integrity.keyed_requests (
  request_id uuid not null,
  batch_id uuid not null,
  -- The place of the interaction in the batch.
  place integer not null,
  is_accepted boolean not null,
  decided_at timestamptz(3) not null,
  constraint keyed_requests_pkey primary key (request_id, batch_id, place)
);
create index keyed_requests_decided_at on integrity.keyed_requests (decided_at);

-- Offsets of the submitted log that Kafka lost after they were decided, and whose loss an operator accepted (weir
-- accept-loss): whatever lies there now without a verdict is passed over.
create table integrity.accepted_losses (
  topic text not null,
  partition integer not null,
  from_offset bigint not null,
  -- The first offset that is not lost any more: where the cursor stood.
  until_offset bigint not null,
  accepted_at timestamptz(3) not null default now(),
  constraint accepted_losses_pkey primary key (topic, partition, from_offset)
);

-- How wide the system is, one row for each generation of the submitted topics. "weir lanes change" adds one; versions
-- are places in these partitions, so a row is never given another width.
create table integrity.layouts (
  -- Which topics hold the submitted log: 0, then 1, … Versions have room for 16 of them.
  generation integer not null,
  -- How many lanes an organisation has in the submitted log of each type.
  lanes integer not null,
  submitted_partitions integer not null,
  accepted_partitions integer not null,
  made_at timestamptz(3) not null default now(),
  -- Since when edges write to the topics of this generation; null while it is being prepared.
  opened_at timestamptz(3) default now(),
  -- Where the topics of this generation end, by topic and partition, once nothing can be written to them any more.
  closed_ends jsonb,
  -- Since when everything in them is decided and published; only then the next generation is decided.
  finished_at timestamptz(3),
  constraint layouts_pkey primary key (generation)
);

-- The body that a request with an Idempotency-Key was first decided with, where organisations have several lanes: the
-- batches of two bodies under one key may then be decided at the same time, and the first to be here counts. A row goes
-- with the last verdict of its request.
create table integrity.request_bodies (
  request_id uuid not null,
  body_sha256 bytea not null,
  constraint request_bodies_pkey primary key (request_id)
);

-- What an uploader (POST /v1/rejections/retry) or an operator (weir rejected retry) asked to have submitted again: its
-- claims are in integrity.retries, and any edge sends those.
create table integrity.retry_orders (
  -- The request_id of the uploader's call; an operator's run has one of its own for each organisation.
  order_id uuid not null,
  org_id text not null,
  body_sha256 bytea not null,
  ordered_at timestamptz(3) not null default now(),
  matched integer not null,
  -- How many rejections were claimed for it. A claim that is gone without an outcome was given up before it was sent.
  submitted integer not null,
  -- How many were left out, by reason.
  skipped json not null,
  -- The id of the API key that it was ordered with: what is submitted again for the order carries it.
  key_id text,
  -- Whether an operator ordered it; uploaders are not told of such an order.
  by_operator boolean not null default false,
  -- Whether a record is sent even where a later one of the same id was accepted.
  even_superseded boolean not null default false,
  -- Where the next order goes on, as the answer named it; null where all that matched was looked at.
  next_cursor text,
  -- What is changed in each record before it is submitted: field and to; without to, the field is left out. Null where
  -- they go as they were sent.
  change jsonb,
  constraint retry_orders_pkey primary key (order_id)
);
create index retry_orders_ordered_at on integrity.retry_orders (ordered_at);

-- Records that wait for what they refer to, and what became of those that waited; the ended ones are pruned like
-- verdicts. A row is decided only in the lane of its record: batch_id and place say where it was first submitted.
create table integrity.waiting (
  batch_id uuid not null,
  -- Its place in that batch; request_index is the one in the request.
  place integer not null,
  org_id text not null,
  type text not null,
  id uuid not null,
  request_id uuid not null,
  request_index integer not null,
  -- The version of the place where it was first submitted.
  version bigint not null,
  topic text not null,
  partition integer not null,
  -- The record as a submitted batch of its own, in the wire format of its topic. Null once it no longer waits.
  message bytea,
  keyed_sha256 bytea,
  -- What it waits for: [{field, type, id}]. Of one that has ended, what it waited for last.
  missing json not null,
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  state text not null default 'waiting'::text,
  changed_at timestamptz(3) not null,
  problems json,
  accepted_version bigint,
  -- From when on it is to be appended to its lane, to be decided anew. Of one that was appended it lies ahead: it is
  -- appended once more if its lane has not come to it by then.
  due_at timestamptz(3),
  -- When it was last appended to its lane to be decided anew.
  sent_at timestamptz(3),
  -- Whether it is certain that no transaction that did not see this row has indexed what it waits for: until then the
  -- relay looks itself.
  is_checked boolean not null default false,
  -- The transaction that wrote this row last as one to be looked at; null where that is not known. Once all that were
  -- under way beside it have ended, one look is enough.
  check_after xid8,
  -- Grows with every change of state: the version of its event on weir.waiting.
  change bigint not null default nextval('integrity.waiting_changes'::regclass),
  -- Whether that event is published.
  is_told boolean not null default false,
  -- How many bytes its message has, for the bound on an organisation's waiting bytes; null where a version without that
  -- bound wrote the row.
  size integer,
  constraint waiting_pkey primary key (batch_id, place),
  constraint waiting_state check (state = any (array['waiting'::text, 'accepted'::text, 'refused'::text, 'superseded'::text, 'cancelled'::text]))
);
create index waiting_due_turns on integrity.waiting (date_trunc('minute'::text, (due_at at time zone 'UTC'::text)), org_id, due_at) where state = 'waiting'::text and due_at is not null;
create index waiting_ended on integrity.waiting (changed_at) where state <> 'waiting'::text;
create unique index waiting_record on integrity.waiting (org_id, type, id) include (size) where state = 'waiting'::text;
create index waiting_unchecked on integrity.waiting (since) where state = 'waiting'::text and not is_checked and due_at is null;
create index waiting_until_turns on integrity.waiting (date_trunc('minute'::text, (until at time zone 'UTC'::text)), org_id, until) where state = 'waiting'::text and due_at is null;
create index waiting_untold on integrity.waiting (change) where not is_told;

-- The records that waiting records wait for: what is looked at when a record is indexed.
create table integrity.waiting_for (
  org_id text not null,
  type text not null,
  id uuid not null,
  batch_id uuid not null,
  place integer not null,
  constraint waiting_for_pkey primary key (org_id, type, id, batch_id, place)
);
create index waiting_for_waiting on integrity.waiting_for (batch_id, place);

-- Records that were waited for and have been accepted. Those that wait for them are appended to their lanes, in the
-- order of batch_id and place; done_batch_id and done_place say how far that has come.
create table integrity.waiting_arrived (
  org_id text not null,
  type text not null,
  id uuid not null,
  arrived_at timestamptz(3) not null,
  done_batch_id uuid,
  done_place integer,
  constraint waiting_arrived_pkey primary key (org_id, type, id)
);
create index waiting_arrived_turns on integrity.waiting_arrived (org_id, arrived_at);

-- Verdicts that were published and that this Postgres had forgotten, because it went back to an earlier state. "weir
-- accept-loss" brings them here from the topic weir.verdicts; when its batch is decided again, a verdict is taken out.
create table integrity.forgotten_verdicts (
  batch_id uuid not null,
  -- What was published, as JSON. Text, because a refused value may hold what the type json does not take.
  verdict text not null,
  constraint forgotten_verdicts_pkey primary key (batch_id)
);

-- How often entities were removed from integrity.entities.
create table integrity.index_changes (
  is_only boolean not null default true,
  change bigint not null,
  constraint index_changes_pkey primary key (is_only),
  constraint index_changes_is_only_check check (is_only)
);

-- What "weir verify" found when it compared all organisations and types: the last 100 runs. Dashboards, alerts and
-- "weir status" show the newest.
create table operator.verifications (
  -- When the run ended.
  ran_at timestamptz(3) not null default now(),
  -- From when on what was submitted was compared.
  since timestamptz(3) not null,
  -- Up to when.
  until timestamptz(3) not null,
  -- How many differences are left: those that the run mended are not counted.
  differences integer not null,
  -- Whether nothing differs, apart from what was mended.
  is_clean boolean not null,
  constraint verifications_pkey primary key (ran_at)
);

-- Own segments of organisations, every version of each: the last one holds. ClickHouse has a copy, which "weir
-- provision" makes anew.
create table operator.segments (
  org_id text not null,
  -- Its name.
  segment text not null,
  -- Counts how often its condition was set, from 1 on.
  version integer not null,
  -- Who is in it: an expression of SQL about a customer, which was checked.
  condition text not null,
  -- What it is for.
  about text not null default ''::text,
  created_at timestamptz(3) not null default now(),
  -- Since when it is no longer wanted; null where it is.
  dropped_at timestamptz(3),
  constraint segments_pkey primary key (org_id, segment, version),
  constraint segments_org_id_fkey foreign key (org_id) references auth.organisations(org_id)
);

-- The queries that the people of an organisation share (GET /v1/queries). They are texts: nothing runs them by itself.
create table query.saved_queries (
  org_id text not null,
  name text not null,
  query text not null,
  -- What it answers, in words; null: nobody wrote that down.
  about text,
  -- Grows by one each time that it is saved: who saves it anew says which one they know.
  version integer not null default 1,
  saved_at timestamptz(3) not null default now(),
  -- The key_id of the key that saved it last.
  saved_by text not null,
  constraint saved_queries_pkey primary key (org_id, name),
  constraint saved_queries_name_check check (char_length(name) >= 1 and char_length(name) <= 60)
);

-- What is hashed of a row: the same text wherever and whenever it is asked for.
create function auth.audit_content(entry auth.audit) returns text language sql stable as $function$
  select jsonb_build_object(
    'id', entry.audit_id, 'org', entry.org_id,
    'at', to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'actor', entry.actor, 'action', entry.action, 'subject', entry.subject,
    'request_id', entry.request_id, 'details', entry.details
  )::text
$function$;

-- Chains each new row to the newest one of its organisation; others that write of the same organisation wait.
create function auth.chain_audit() returns trigger language plpgsql as $function$
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
$function$;
create trigger audit_chained
before insert on auth.audit
for each row execute function auth.chain_audit();

-- A row as it stands in the chain behind the row that has this chain.
create function auth.chained(entry auth.audit, before bytea) returns auth.audit language plpgsql as $function$
begin
  entry.salt := uuid_send(gen_random_uuid());
  entry.content_sha256 := sha256(entry.salt || convert_to(auth.audit_content(entry), 'UTF8'));
  entry.previous := coalesce(before, '');
  entry.chain := sha256(entry.previous || entry.content_sha256);
  entry.redacted_at := null;
  return entry;
end
$function$;

-- Lets only lawful changes through: a guard against mistakes, not against a superuser, whose changes "weir audit
-- verify" finds.
create function auth.guard_audit() returns trigger language plpgsql as $function$
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
$function$;
create trigger audit_guarded
before delete or update on auth.audit
for each row execute function auth.guard_audit();
create trigger audit_not_truncated
before truncate on auth.audit for each statement execute function auth.guard_audit();

create function auth.guard_pruning() returns trigger language plpgsql as $function$
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
$function$;
create trigger audit_pruned
after delete on auth.audit referencing old table as gone for each statement execute function auth.guard_pruning();

-- Every edge listens on weir_keys: a key that is changed or revoked is known everywhere at once. A change of
-- last_used_at is not announced: the edges themselves write it all the time.
create function auth.tell_key_change() returns trigger language plpgsql as $function$
begin
  perform pg_notify('weir_keys', coalesce(new.key_id, old.key_id));
  return null;
end
$function$;
create trigger api_keys_changed
after insert or delete or update of org_id, key_hash, scopes, expires_at, revoked_at on auth.api_keys
for each row execute function auth.tell_key_change();

-- The edges keep an organisation's limits with its keys, so a change of the limits is announced as a change of each of
-- its keys.
create function auth.tell_limits_change() returns trigger language plpgsql as $function$
begin
  perform pg_notify('weir_keys', key_id) from auth.api_keys where org_id = new.org_id;
  return null;
end
$function$;
create trigger organisations_limits_changed
after update of requests_per_second, records_per_second on auth.organisations
for each row execute function auth.tell_limits_change();

-- Notes in integrity.cursors up to where a version decided that knew nothing of waiting.
create function integrity.note_overtaken() returns trigger language plpgsql as $function$
begin
  update integrity.cursors
  set overtaken_until = new.submitted_offset + 1
  where topic = new.topic and partition = new.partition and overtaken_until <= new.submitted_offset;
  new.gone := '{}';
  return new;
end
$function$;
create trigger verdicts_without_waiting
before insert on integrity.verdicts
for each row when (new.gone is null) execute function integrity.note_overtaken();

-- Notes in integrity.cursors up to where verdicts are gone.
create function integrity.note_pruned() returns trigger language plpgsql as $function$
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
$function$;
create trigger verdicts_pruned
after delete on integrity.verdicts referencing old table as gone for each statement execute function integrity.note_pruned();
