import { join } from 'node:path'
import { createFeed } from '#feeds/feed.js'
import { createReadLog } from '#feeds/read-log.js'
import { createReadRemoved } from '#feeds/read-removed.js'
import { createReadTables } from '#feeds/read-tables.js'
import { createFindStored } from '#feeds/stored.js'
import { noteAudit } from '#ledger/audit.js'
import { findKeyOrg } from '#ledger/keys.js'
import { countDecided, findDecidedSince, findLastAccepted } from '#ledger/latest/activity.js'
import { findThings } from '#ledger/latest/find-id.js'
import { listDecidedRequests, listPendingRequests } from '#ledger/latest/requests.js'
import { findGenerations } from '#ledger/layout/layout.js'
import { countWaitingUpTo } from '#ledger/waiting/look-up.js'
import { createPersonExport } from '#persons/export.js'
import { boundedReader, createClickHouse } from '#platform/clickhouse.js'
import { createClickHouseAs } from '#platform/clickhouse-as.js'
import type { Log } from '#platform/health/log.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import type { Reach } from '#platform/outgoing/addresses.js'
import { abandonAfter, createPool, endPool } from '#platform/postgres/postgres.js'
import type { Access } from '#platform/process/access.js'
import type { OnStop } from '#platform/process/lifecycle.js'
import { packageRoot } from '#platform/process/package-root.js'
import { createTurnstile } from '#platform/process/turnstile.js'
import type { Registry } from '#platform/registry.js'
import type { Reader } from '#rejections/find-rejections.js'
import { mostCounted } from '#schemas/endpoints/overview.js'
import { downloadedWithin } from '#schemas/endpoints/sql/sql.js'
import type { VerdictEvent } from '#schemas/events.js'
import { readPages } from './console/pages.js'
import { createErasureActions } from './erasures/route.js'
import { createWritePage } from './feeds/forms.js'
import { createFeedReaders } from './feeds/readers.js'
import { createWakes } from './feeds/wakes.js'
import { createFindStored as createFindInTables } from './find.js'
import { createReadInteractions } from './interactions/reader.js'
import { createFindJourney } from './journey/find-journey.js'
import { createFindOffsets } from './journey/find-offsets.js'
import { createKeyActions } from './keys/actions.js'
import { createActivity } from './live/activity.js'
import { createCountRows } from './live/history.js'
import { createReadMartRows } from './marts/read-mart.js'
import { createOperatorActions } from './operators/actions.js'
import { createOrgFigures } from './operators/figures.js'
import { createSystemState } from './operators/system.js'
import { type SystemFigures, watchSystem } from './operators/watch.js'
import { createReads, type ReadBounds, usual } from './reads.js'
import { createOwnRejections } from './rejections/rejections.js'
import { createQuery, type Query, type QueryDeps } from './routes.js'
import { createAskAnalyst } from './sql/ask-analyst.js'
import { createSavedQueries } from './sql/saved-queries.js'
import { createFollowers } from './topics/followers.js'
import { createFindOlder } from './topics/older-events.js'
import { createOwnWaiting } from './waiting/waiting.js'
import { createWebhookActions } from './webhooks/actions.js'

// To count the waiting records of one organisation can take 20 s, so that it is answered one question at a time.
const ofWaiting: ReadBounds = { atOnce: 3, ofOne: 1 }
// A question about a mart may keep two of ClickHouse's threads busy for seconds, and the console's page asks a dozen.
const ofMarts: ReadBounds = { atOnce: 4, ofOne: 3 }
// A query of an analyst's own may take a minute, and a download two: each organisation has one more while the first is looked at.
const ofSql: ReadBounds = { atOnce: 6, ofOne: 2 }
// Pages of feeds are short reads of Postgres and Kafka; those from the beginning read ClickHouse, too.
const ofFeeds: ReadBounds = { atOnce: 8, ofOne: 4 }
// An export reads all tables of an organisation that name persons, and is sent for as long as its receiver takes.
const ofPersons: ReadBounds = { atOnce: 2, ofOne: 1 }
// To verify 100 000 entries of the audit takes Postgres one to three seconds.
const ofAudit: ReadBounds = { atOnce: 2, ofOne: 1 }
// A question uses one connection to Postgres at a time. So there is one for each that may run, whatever the others do: those about
// rejections, those of the console, those about waiting records, feeds, exports of persons, the audit. The last three are for what is short and has no bounds: orders of
// retries, keys, organisations.
const mostConnections =
  usual.atOnce + usual.atOnce + ofWaiting.atOnce + ofFeeds.atOnce + ofPersons.atOnce + ofAudit.atOnce + 3
// To ClickHouse, for each of rejections, journeys, interactions, topics, marts, feeds, what is looked for, what was decided and what operators
// look at: a journey asks several things at once.
const share = 10
// Seconds that one query of an export may take.
const personsWithin = 100
// Whether a generation is finished, a reader who waits may hear so much later.
const generationsKeptFor = 500
// What is counted one by one when somebody begins to watch: ten seconds of an organisation's batches.
const mostRecent = 20_000

/**
 * Opens the read side, which has connections of its own: however much is asked here, no upload waits for it.
 *
 * The edge mounts it in its process. In a process of its own it would be mounted in an app with the edge's authentication, rate limits
 * and body parser (`findCaller`, `rateLimits`), read the layout and the verdicts by itself (`layout`, `onVerdict`) and ask the edge for
 * `readiness` and `lagOf`. `onOrdered` could do nothing: edges look for orders every two seconds. A proxy would have to send GET
 * /user-interactions there and POST to the edge.
 */
export const openQuery = (
  deps: Pick<
    QueryDeps,
    'catalogue' | 'findCaller' | 'rateLimits' | 'readiness' | 'lagOf' | 'layout' | 'forSubscribers' | 'decoders' | 'now'
  > & {
    access: Pick<Access, 'postgres' | 'clickhouse'>
    kafka: Kafka
    encoders: Pick<Registry, 'encoder'>
    /** Calls the listener with each verdict that comes from now on. */
    onVerdict: (listener: (verdict: VerdictEvent) => void) => void
    /** Called when an uploader has ordered that rejections be submitted again. */
    onOrdered: () => void
    systemFigures: SystemFigures
    /** Where webhooks may lead. */
    webhookReach: Reach
    log: Log
  },
  onStop: OnStop,
): Query & {
  /** For a stop, which a Postgres that hangs must not hold up. */
  abandonAfter: (ms: number) => void
} => {
  const { access, catalogue } = deps
  const pool = createPool(access.postgres, deps.log, mostConnections, { queryTimeout: 5_000 })
  onStop('postgres of the read side', () => endPool(pool))
  const options = { ...access.clickhouse, requestTimeout: 10_000, maxConnections: 10 * share }
  const clickhouse = createClickHouse(access.clickhouse.url, options)
  onStop('clickhouse of the read side', clickhouse.close)
  // For what callers write themselves, as the user that they name: the client above is never asked it.
  const forAnalysts = createClickHouseAs(access.clickhouse.url, {
    ...access.clickhouse,
    requestTimeout: downloadedWithin * 1000 + 10_000,
    maxConnections: ofSql.atOnce,
  })
  onStop('clickhouse of analysts', forAnalysts.close)
  // A page of an export may have to look through all of a large organisation.
  const forPersons = createClickHouse(access.clickhouse.url, {
    ...access.clickhouse,
    requestTimeout: personsWithin * 1000 + 10_000,
    maxConnections: ofPersons.atOnce,
  })
  onStop('clickhouse of exports of persons', forPersons.close)
  const followers = createFollowers(deps)
  onStop('topics that are followed', followers.close)

  const watch = watchSystem({
    ...{ pool, clickhouse: boundedReader(withShare(clickhouse)) },
    ...{ figures: deps.systemFigures, log: deps.log },
  })
  onStop('what is asked every minute', watch.stop)

  const types = [...catalogue.all.keys()]
  const activity = createActivity({
    history: {
      count: (orgId, stretch) => countDecided(pool, { orgId, types, ...stretch }),
      since: (orgId, since) => findDecidedSince(pool, { orgId, types, since, most: mostRecent }),
    },
    interactionType: catalogue.interaction.type,
    now: deps.now,
  })
  deps.onVerdict(activity.note)
  const wakes = createWakes()
  deps.onVerdict(wakes.note)
  const log = deps.kafka.createLogReader()
  onStop('log of feeds', log.close)
  const generations = remembered(generationsKeptFor, () => findGenerations(pool))
  const feed = createFeed({
    pool,
    findGenerations: generations,
    readLog: createReadLog({
      ...{ pool, log, decoders: deps.decoders, findGenerations: generations },
      readRemoved: createReadRemoved({
        ...{ pool, findGenerations: generations },
        clickhouse: boundedReader(withShare(clickhouse)),
      }),
    }),
    readTables: createReadTables(boundedReader(withShare(clickhouse))),
    findStored: createFindStored({ catalogue, kafka: deps.kafka, findGenerations: generations }),
  })

  const query = createQuery({
    ...deps,
    rejections: createOwnRejections(
      { pool, clickhouse: boundedReader(withShare(clickhouse)), catalogue },
      deps.onOrdered,
    ),
    reads: createReads(),
    waiting: createOwnWaiting(pool),
    waitingReads: createReads(20_000, 'waiting records', ofWaiting),
    consoleReads: createReads(undefined, 'this'),
    readMartRows: createReadMartRows(boundedReader(withShare(clickhouse))),
    martReads: createReads(30_000, 'marts', ofMarts),
    openPersonExport: createPersonExport({
      ...{ catalogue, pool, decoders: deps.decoders, now: Date.now },
      clickhouse: boundedReader(forPersons, { max_execution_time: personsWithin, max_rows_to_read: 0 }),
    }),
    notePersonExport: (by, org, subject) => noteAudit(pool, by, { org, action: 'person_exported', subject }),
    personReads: createReads(60_000, 'persons', ofPersons),
    askAnalyst: createAskAnalyst(forAnalysts, { isCluster: access.clickhouse.cluster !== undefined }),
    sqlReads: createReads(20_000, 'the tables', ofSql),
    savedQueries: createSavedQueries(pool),
    activity,
    requestLists: {
      decided: (asked) => listDecidedRequests(pool, asked),
      pending: (asked) => listPendingRequests(pool, asked),
    },
    lastAccepted: (orgId) => findLastAccepted(pool, orgId, types),
    countWaiting: (orgId) => countWaitingUpTo(pool, orgId, mostCounted),
    countVerdicts: (orgId, stretch) => countDecided(pool, { orgId, types, ...stretch }),
    countRows: createCountRows({ catalogue, clickhouse: boundedReader(withShare(clickhouse)) }),
    findThings: (orgId, id) => findThings(pool, { orgId, id, types }),
    findStored: createFindInTables({ catalogue, clickhouse: boundedReader(withShare(clickhouse)) }),
    findKeyOrg: (keyId) => findKeyOrg(pool, keyId),
    findJourney: createFindJourney({
      ...deps,
      clickhouse: boundedReader(withShare(clickhouse)),
      pool,
      findOffsets: createFindOffsets({ ...deps, now: () => performance.now() }),
    }),
    keys: createKeyActions(pool, catalogue),
    auditReads: createReads(30_000, 'the audit', ofAudit),
    operators: createOperatorActions(pool),
    orgFigures: createOrgFigures({ pool, catalogue, clickhouse: boundedReader(withShare(clickhouse)) }),
    systemState: createSystemState({ ...deps, pool, clickhouse: boundedReader(withShare(clickhouse)) }),
    feedReaders: createFeedReaders({ feed, wakes, reads: createReads(undefined, 'feeds', ofFeeds) }),
    writePage: createWritePage(deps.encoders),
    erasures: createErasureActions(pool),
    webhooks: createWebhookActions({ pool, feed, catalogue, reach: deps.webhookReach }),
    readInteractions: createReadInteractions(withShare(clickhouse), catalogue.interaction),
    followers,
    findOlder: createFindOlder({ ...deps, clickhouse: boundedReader(withShare(clickhouse)) }),
    pages: readPages(join(packageRoot, 'dist/console')),
  })
  return { ...query, abandonAfter: (ms) => abandonAfter(ms, pool) }
}

/** Asks at most once in so many milliseconds. */
const remembered = <T>(ms: number, ask: () => Promise<T>): (() => Promise<T>) => {
  let known: { at: number; answer: Promise<T> } | undefined
  return () => {
    if (known && performance.now() < known.at + ms) return known.answer
    const answer = ask()
    known = { at: performance.now(), answer }
    answer.catch(() => {
      known = undefined
    })
    return answer
  }
}

/** The same client, with no more of its connections than a share. */
const withShare = (clickhouse: Reader): Reader => {
  const inTurn = createTurnstile(share)
  return { query: (sql, values, settings) => inTurn(() => clickhouse.query(sql, values, settings)) }
}
