-- Up Migration
create sequence integrity.waiting_changes;

create table integrity.waiting (
  batch_id uuid not null,
  place integer not null,
  org_id text not null,
  type text not null,
  id uuid not null,
  request_id uuid not null,
  request_index integer not null,
  version bigint not null,
  topic text not null,
  partition integer not null,
  message bytea,
  keyed_sha256 bytea,
  missing json not null,
  since timestamptz(3) not null,
  until timestamptz(3) not null,
  state text not null default 'waiting',
  changed_at timestamptz(3) not null,
  problems json,
  accepted_version bigint,
  due_at timestamptz(3),
  sent_at timestamptz(3),
  is_checked boolean not null default false,
  check_after xid8,
  change bigint not null default nextval('integrity.waiting_changes'),
  is_told boolean not null default false,
  primary key (batch_id, place),
  constraint waiting_state check (state in ('waiting', 'accepted', 'refused', 'superseded', 'cancelled'))
);

-- One record of an id waits at a time. No other index is of exactly those that wait: Postgres would choose it for looking up ids
-- whenever it expects few of them, and read it from end to end.
create unique index waiting_record on integrity.waiting (org_id, type, id) where state = 'waiting';
create index waiting_due on integrity.waiting (due_at) where state = 'waiting' and due_at is not null;
create index waiting_until on integrity.waiting (until) where state = 'waiting' and due_at is null;
create index waiting_unchecked on integrity.waiting (since) where state = 'waiting' and not is_checked and due_at is null;
create index waiting_untold on integrity.waiting (change) where not is_told;
create index waiting_ended on integrity.waiting (changed_at) where state <> 'waiting';

create table integrity.waiting_for (
  org_id text not null,
  type text not null,
  id uuid not null,
  batch_id uuid not null,
  place integer not null,
  primary key (org_id, type, id, batch_id, place)
);
create index waiting_for_waiting on integrity.waiting_for (batch_id, place);

create table integrity.waiting_arrived (
  org_id text not null,
  type text not null,
  id uuid not null,
  arrived_at timestamptz(3) not null,
  done_batch_id uuid,
  done_place integer,
  primary key (org_id, type, id)
);
create index waiting_arrived_at on integrity.waiting_arrived (arrived_at);

alter table integrity.verdicts add column waiting json;
alter table integrity.verdicts add column gone integer[] not null default '{}';

comment on table integrity.waiting is 'Records that wait for what they refer to, and what became of those that waited; the ended ones are pruned like verdicts. A row is decided only in the lane of its record: batch_id and place say where it was first submitted.';
comment on column integrity.waiting.place is 'Its place in that batch; request_index is the one in the request.';
comment on column integrity.waiting.version is 'The version of the place where it was first submitted.';
comment on column integrity.waiting.message is 'The record as a submitted batch of its own, in the wire format of its topic. Null once it no longer waits.';
comment on column integrity.waiting.missing is 'What it waits for: [{field, type, id}]. Of one that has ended, what it waited for last.';
comment on column integrity.waiting.due_at is 'From when on it is to be appended to its lane, to be decided anew. Of one that was appended it lies ahead: it is appended once more if its lane has not come to it by then.';
comment on column integrity.waiting.sent_at is 'When it was last appended to its lane to be decided anew.';
comment on column integrity.waiting.is_checked is 'Whether it is certain that no transaction that did not see this row has indexed what it waits for: until then the relay looks itself.';
comment on column integrity.waiting.check_after is 'The transaction that wrote this row last as one to be looked at; null where that is not known. Once all that were under way beside it have ended, one look is enough.';
comment on column integrity.waiting.change is 'Grows with every change of state: the version of its event on weir.waiting.';
comment on column integrity.waiting.is_told is 'Whether that event is published.';
comment on table integrity.waiting_for is 'The records that waiting records wait for: what is looked at when a record is indexed.';
comment on table integrity.waiting_arrived is 'Records that were waited for and have been accepted. Those that wait for them are appended to their lanes, in the order of batch_id and place; done_batch_id and done_place say how far that has come.';
comment on column integrity.verdicts.waiting is 'Records of the batch that began to wait; what became of them is in integrity.waiting.';
comment on column integrity.verdicts.gone is 'Places of records that were to be decided anew and no longer waited: nothing happened to them.';
