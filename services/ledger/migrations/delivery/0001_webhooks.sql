-- Up Migration
create schema if not exists delivery;

create table delivery.webhooks (
  webhook_id uuid primary key default gen_random_uuid(),
  org_id text not null references auth.organisations (org_id),
  url text not null,
  events text[] not null,
  secret text not null,
  former_secret text,
  former_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  disabled_at timestamptz(3),
  disabled_reason text
);
create index webhooks_of_organisation on delivery.webhooks (org_id, created_at);

comment on table delivery.webhooks is 'Where an organisation wants to be told of what happens (POST /v1/webhooks).';
comment on column delivery.webhooks.secret is 'What deliveries are signed with, as whsec_ and base64. It has to be known to sign, so no hash of it would do.';
comment on column delivery.webhooks.former_secret is 'The secret before the last rotation: until former_until deliveries are signed with it, too.';
comment on column delivery.webhooks.disabled_at is 'Since when nothing is delivered; null: it is. What happens meanwhile is delivered once it is enabled.';

create table delivery.queues (
  webhook_id uuid not null references delivery.webhooks (webhook_id) on delete cascade,
  queue text not null,
  org_id text not null,
  read_to text,
  due_at timestamptz(3) not null default now(),
  not_before timestamptz(3) not null default now(),
  tries integer not null default 0,
  woken bigint not null default 0,
  lease uuid,
  leased_until timestamptz(3),
  primary key (webhook_id, queue)
);
create index queues_of_organisation on delivery.queues (org_id);

comment on table delivery.queues is 'What is delivered to a webhook one after another: a queue for each event, and one for what people ask for by hand.';
comment on column delivery.queues.queue is 'The event; or extra: tests, and deliveries that are made again.';
comment on column delivery.queues.read_to is 'A place in the submitted log: what was decided before it has been delivered, or is a pending delivery.';
comment on column delivery.queues.due_at is 'When the delivery service looks at it next.';
comment on column delivery.queues.not_before is 'Nothing new is put together before this moment.';
comment on column delivery.queues.tries is 'How often its first pending delivery has failed since the last success.';
comment on column delivery.queues.woken is 'Grows each time that something was decided for the organisation: who works on the queue sees whether it has to look again.';
comment on column delivery.queues.lease is 'Which piece of work of a delivery service has it, until leased_until.';

create sequence delivery.places;
create table delivery.deliveries (
  delivery_id text primary key,
  place bigint not null default nextval('delivery.places'),
  webhook_id uuid not null references delivery.webhooks (webhook_id) on delete cascade,
  event text not null,
  queue text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  created_at timestamptz(3) not null default now(),
  records integer,
  body text,
  read_from text,
  read_to text,
  attempts integer not null default 0,
  tried jsonb not null default '[]',
  first_tried_at timestamptz(3),
  ended_at timestamptz(3)
);
create index deliveries_of_webhook on delivery.deliveries (webhook_id, place);
create index deliveries_pending on delivery.deliveries (webhook_id, queue, place) where state = 'pending';
create index deliveries_ended on delivery.deliveries (ended_at) where state <> 'pending';

comment on table delivery.deliveries is 'What was, or is to be, delivered to webhooks: stored before its first attempt, so that its id is the same at each one.';
comment on column delivery.deliveries.delivery_id is 'The webhook-id that receivers see.';
comment on column delivery.deliveries.place is 'Counts deliveries: those of a queue are delivered in this order.';
comment on column delivery.deliveries.body is 'What is sent. Of accepted records gone once it was delivered: it is made again from the log.';
comment on column delivery.deliveries.read_from is 'Of accepted records: where in the log they begin.';
comment on column delivery.deliveries.read_to is 'And where they end.';
comment on column delivery.deliveries.tried is 'The last attempts: at, status, ms, problem or answer.';
comment on column delivery.deliveries.first_tried_at is 'When it was first tried since the webhook was enabled, or since it was asked for again.';
