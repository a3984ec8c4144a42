import type { Command } from 'commander'
import { writeCursor } from '#feeds/cursor.js'
import { beginNow, createFindInLog } from '#feeds/feed.js'
import { commandLine } from '#ledger/audit.js'
import { findGenerations } from '#ledger/layout/layout.js'
import { hasOrg } from '#ledger/organisations.js'
import { addTest, type DeliveryState, listDeliveries, replayDeliveries } from '#ledger/webhooks/deliveries.js'
import * as ledger from '#ledger/webhooks/webhooks.js'
import { createReach, whyNotTo } from '#platform/outgoing/addresses.js'
import { type Connection, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { mostWebhooks, webhookEvents } from '#schemas/endpoints/downstream/webhooks.js'
import { isUuid } from '#schemas/uuid.js'
import { readDuration, readMoment, readName, readOrg } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import { examples, examplesAnd, type Session } from '../command/session.js'
import { toDistance, toTable } from '../command/table.js'

type Options = { org: string; json?: boolean }
type CreateOptions = Options & { url: string; events: string }
type LogOptions = Options & { state?: string }
type ReplayOptions = Options & { delivery?: string; since?: string; until?: string }

/** Where organisations are told of what happens. */
export const addWebhooks = (program: Command, session: Session): void => {
  const webhooks = program
    .command('webhooks')
    .description(
      'where organisations are told of what happens: make, change and test webhooks, see and repeat deliveries',
    )
  const json = '--json'
  webhooks
    .command('create')
    .description('have what happens from now on sent to an address')
    .requiredOption('--org <id>', 'the organisation that it is about')
    .requiredOption('--url <url>', 'where deliveries go')
    .option('--events <list>', 'what it is told of, comma-separated', webhookEvents.join(','))
    .option(json, 'one line of JSON: webhook_id, secret')
    .addHelpText('after', examplesAnd(about, `webhooks create --org acme --url https://example.com/weir`))
    .action((options: CreateOptions) => create(options, session))
  webhooks
    .command('list')
    .description('show the webhooks there are, and how they are')
    .option('--org <id>', 'only those of one organisation')
    .option(
      json,
      'one line: an array with webhook_id, org, url, events, disabled_at, disabled_reason, failing_since, …',
    )
    .addHelpText('after', examples('webhooks list --org acme'))
    .action((options: Partial<Options>) => list(options, session))
  const onOne = (name: string, description: string, jsonOf: string) =>
    webhooks
      .command(`${name} <webhook_id>`)
      .description(description)
      .requiredOption('--org <id>', 'the organisation that it belongs to')
      .option(json, `one line of JSON: ${jsonOf}`)
      .addHelpText('after', examples(`webhooks ${name} 0f8e2a5c-1b7d-4a3e-9c51-7d2f6e4b8a90 --org acme`))
  for (const [name, enabled] of [['enable', true] as const, ['disable', false] as const])
    onOne(
      name,
      enabled ? 'go on with a webhook where it stopped' : 'deliver nothing more, for now',
      'the webhook',
    ).action((id: string, options: Options) => enable(id, enabled, options, session))
  onOne('delete', 'delete a webhook and its delivery log', 'webhook_id').action((id: string, options: Options) =>
    drop(id, options, session),
  )
  onOne('rotate', 'make a new secret', 'webhook_id, secret, former_until')
    .option('--grace <duration>', 'for how long the former secret signs, too', '24h')
    .action((id: string, options: Options & { grace: string }) => rotate(id, options, session))
  onOne('test', 'send a test', 'delivery_id').action((id: string, options: Options) => test(id, options, session))
  onOne('deliveries', 'show what was delivered, the newest first', 'an array of the last 100')
    .option('--state <state>', 'only these: pending, delivered or failed')
    .action((id: string, options: LogOptions) => showDeliveries(id, options, session))
  onOne('replay', 'deliver again, under the same ids', 'deliveries: how many')
    .option('--delivery <delivery_id>', 'one delivery')
    .option('--since <time>', 'all since then: a time, or how long ago (2h)')
    .option('--until <time>', 'and before that')
    .action((id: string, options: ReplayOptions) => replay(id, options, session))
}

const about = `
Events: ${webhookEvents.join(', ')} (docs/webhooks.md says what each holds).
Addresses must be public and https, unless WEBHOOK_ALLOW names their network.`

const create = async (options: CreateOptions, session: Session): Promise<void> => {
  const org = readOrg(options.org)
  const names = options.events.split(',').map((name) => readName('event', name.trim(), webhookEvents))
  const problem = await whyNotTo(options.url, createReach(session.config.WEBHOOK_ALLOW))
  if (problem !== undefined) throw new OperatorError(problem)
  const made = await session.withParts(['pool'], async ({ pool }) => {
    if (!(await hasOrg(pool, org))) throw new OperatorError(`there is no organisation ${org}`)
    const readTo = await placeNow(pool, org, session)
    const given = { org, url: options.url, events: [...new Set(names)], readTo }
    return inTransaction(pool, (connection) => ledger.addWebhook(connection, given, mostWebhooks, commandLine))
  })
  if (!made)
    throw new OperatorError(
      `${org} has ${mostWebhooks} webhooks, and cannot have more: "weir webhooks delete" makes room`,
    )
  if (options.json) return session.print(JSON.stringify(made))
  session.print(made.secret)
  session.note(`webhook ${made.webhook_id}; keep the secret now: it will not be shown again`)
  session.note(`Try it: "weir webhooks test ${made.webhook_id} --org ${org}"`)
}

const placeNow = async (pool: Pool, org: string, { catalogue }: Session): Promise<string> => {
  const findInLog = createFindInLog({ pool, findGenerations: () => findGenerations(pool) })
  return writeCursor(org, await beginNow(org, [...catalogue.all.values()], findInLog))
}

const list = async (options: Partial<Options>, session: Session): Promise<void> => {
  const org = options.org === undefined ? null : readOrg(options.org)
  const found = await session.withParts(['pool'], ({ pool }) => ledger.listWebhooks(pool, org))
  if (options.json) return session.print(JSON.stringify(found))
  if (found.length === 0) return session.note('there is no webhook: "weir webhooks create" makes one')
  const columns = [
    { title: 'ORG', cell: (one: ledger.Webhook) => one.org },
    { title: 'WEBHOOK', cell: (one: ledger.Webhook) => one.webhook_id },
    { title: 'URL', cell: (one: ledger.Webhook) => one.url, wraps: true },
    { title: 'EVENTS', cell: (one: ledger.Webhook) => one.events.join(' '), wraps: true },
    { title: 'STATE', cell: stateOf, wraps: true },
  ]
  session.print(toTable(columns, found, session.width))
}

const stateOf = ({ disabled_reason, failing_since }: ledger.Webhook): string => {
  if (disabled_reason !== null) return `disabled: ${disabled_reason}`
  return failing_since ? `failing since ${toDistance(failing_since, new Date())}` : 'enabled'
}

/** Does something with a webhook of the organisation, in a transaction. */
const withWebhook = async <T>(
  id: string,
  { org: given }: Options,
  session: Session,
  work: (connection: Connection, webhook: ledger.Webhook, pool: Pool) => Promise<T>,
): Promise<T> => {
  const org = readOrg(given)
  return session.withParts(['pool'], async ({ pool }) => {
    const webhook = isUuid(id) ? await ledger.findWebhook(pool, org, id) : undefined
    if (!webhook)
      throw new OperatorError(`${org} has no webhook ${id}: "weir webhooks list --org ${org}" shows those there are`)
    return inTransaction(pool, (connection) => work(connection, webhook, pool))
  })
}

const enable = async (id: string, enabled: boolean, options: Options, session: Session): Promise<void> => {
  const changed = await withWebhook(id, options, session, (connection, { org, webhook_id }) =>
    // No event is added, so nothing begins anew.
    ledger.changeWebhook(connection, { org, webhookId: webhook_id, readTo: '' }, { enabled }, commandLine),
  )
  if (options.json) session.print(JSON.stringify(changed))
  else
    session.print(
      enabled ? 'enabled: it goes on where it stopped' : 'disabled: what happens meanwhile is delivered later',
    )
}

const drop = async (id: string, options: Options, session: Session): Promise<void> => {
  await withWebhook(id, options, session, (connection, { org }) => ledger.dropWebhook(connection, org, id, commandLine))
  session.print(options.json ? JSON.stringify({ webhook_id: id }) : 'deleted')
}

const rotate = async (id: string, options: Options & { grace: string }, session: Session): Promise<void> => {
  const graceSeconds = Math.round(readDuration(options.grace) / 1000)
  const rotated = await withWebhook(id, options, session, (connection, { org }) =>
    ledger.rotateSecret(connection, { org, webhookId: id, graceSeconds }, commandLine),
  )
  if (options.json) return session.print(JSON.stringify({ webhook_id: id, ...rotated }))
  session.print(rotated?.secret ?? '')
  session.note(`The former secret signs, too, until ${rotated?.former_until.toISOString()}.`)
}

const refuseDisabled = ({ disabled_at, org, webhook_id }: ledger.Webhook): void => {
  if (disabled_at !== null)
    throw new OperatorError(`the webhook is disabled: "weir webhooks enable ${webhook_id} --org ${org}" first`)
}

const test = async (id: string, options: Options, session: Session): Promise<void> => {
  const deliveryId = await withWebhook(id, options, session, (connection, webhook) => {
    refuseDisabled(webhook)
    return addTest(connection, webhook.org, id)
  })
  if (options.json) session.print(JSON.stringify({ delivery_id: deliveryId }))
  else
    session.print(
      `on its way as ${deliveryId}: "weir webhooks deliveries ${id} --org ${options.org}" shows what came of it`,
    )
}

const showDeliveries = async (id: string, options: LogOptions, session: Session): Promise<void> => {
  const states: DeliveryState[] = ['pending', 'delivered', 'failed']
  const state = options.state === undefined ? undefined : readName('state', options.state, states)
  const found = await withWebhook(id, options, session, (connection) =>
    listDeliveries(connection, id, { state, most: 100 }),
  )
  if (options.json) return session.print(JSON.stringify(found.map(({ place, ...delivery }) => delivery)))
  if (found.length === 0) return session.note('nothing was delivered yet')
  type Row = (typeof found)[number]
  const last = ({ tried }: Row): string => {
    const attempt = tried.at(-1)
    return attempt === undefined ? '' : (attempt.problem ?? `${attempt.status} in ${attempt.ms} ms`)
  }
  const columns = [
    { title: 'MADE', cell: (row: Row) => toDistance(row.created_at, new Date()) },
    { title: 'EVENT', cell: (row: Row) => row.event },
    { title: 'RECORDS', cell: (row: Row) => String(row.records ?? '') },
    { title: 'STATE', cell: (row: Row) => row.state },
    { title: 'ATTEMPTS', cell: (row: Row) => String(row.attempts) },
    { title: 'LAST', cell: last, wraps: true },
    { title: 'DELIVERY', cell: (row: Row) => row.delivery_id },
  ]
  session.print(toTable(columns, found, session.width))
}

const replay = async (id: string, options: ReplayOptions, session: Session): Promise<void> => {
  const { delivery: deliveryId, since, until } = options
  if (deliveryId === undefined && since === undefined)
    throw new OperatorError('say what to deliver again: --delivery <delivery_id>, or --since 2h')
  const momentOf = (given: string | undefined): Date | undefined =>
    given === undefined
      ? undefined
      : new Date(
          readMoment(
            given,
            Date.now(),
            `"${given}" is no time: write 2026-01-31T12:00:00Z, or how long ago, such as 2h`,
          ),
        )
  const count = await withWebhook(id, options, session, (connection, webhook) => {
    refuseDisabled(webhook)
    return replayDeliveries(connection, id, { deliveryId, since: momentOf(since), until: momentOf(until) })
  })
  session.print(options.json ? JSON.stringify({ deliveries: count }) : `${count} on their way`)
}
