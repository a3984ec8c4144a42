import { pino } from 'pino'
import type { Caller } from '#http/request-context.js'
import { Unavailable } from '#http/request-error.js'
import type { DecidedBatch } from '#ledger/latest/activity.js'
import { createMetrics } from '#platform/health/metrics.js'
import { readConfig } from '#platform/process/config.js'
import { createWritePage } from '#query/feeds/forms.js'
import { createFeedReaders } from '#query/feeds/readers.js'
import { createWakes } from '#query/feeds/wakes.js'
import { createActivity } from '#query/live/activity.js'
import { createReads } from '#query/reads.js'
import { createQuery, type QueryDeps } from '#query/routes.js'
import { createTail } from '#query/topics/tail.js'
import { catalogue as published } from '#schemas/catalogue.js'
import { openapiOf } from '#schemas/derive/openapi.js'
import { localAddresses } from '#schemas/derive/topic-reference/consumers.js'
import { usualLayout } from '#schemas/derive/topics.js'
import { type AppDeps, createApp } from '../../../services/edge/app.js'
import { configSchema } from '../../../services/edge/config.js'
import { createFigures } from '../../../services/edge/figures.js'
import { importBoundsOf } from '../../../services/edge/imports/bounds.js'
import { boundsOf, createLoad } from '../../../services/edge/limits/load.js'
import { createRateLimits, ratesOf } from '../../../services/edge/limits/rates.js'
import { readNetwork } from '../../../services/edge/network/network.js'
import { createRequestNotes } from '../../../services/edge/requests/notes.js'
import { createAnswerCheck } from '../../support/openapi/answers.js'
import { createFakeErasures } from '../query/fakes/erasures.fake.js'
import { createFakeFeed } from '../query/fakes/feed.fake.js'
import { createFakeKeys } from '../query/fakes/keys.fake.js'
import { createFakeOperators } from '../query/fakes/operators.fake.js'
import { createFakeInteractions } from '../query/fakes/reader.fake.js'
import { createFakeRejections } from '../query/fakes/rejections.fake.js'
import { createFakeSavedQueries } from '../query/fakes/saved-queries.fake.js'
import { createFakeWaiting } from '../query/fakes/waiting.fake.js'
import { createFakeWebhooks } from '../query/fakes/webhooks.fake.js'
import { createFakeLag } from './fakes/lag.fake.js'
import { createFakeSubmit } from './fakes/submit.fake.js'
import { createFakeVerdictStore } from './fakes/verdict-store.fake.js'

export const silent = pino({ level: 'silent' })
export const acme: Caller = { orgId: 'acme', keyId: 'k1', scopes: null }
export const startOfTest = Date.UTC(2026, 0, 1)

let declared: ReturnType<typeof createAnswerCheck> | undefined

/** Every answer in a test is as its endpoint is declared. The ids that tests make up need not be UUIDs. */
const expectDeclared = (method: string, url: string, { statusCode: status, headers, body: text }: Answered): void => {
  declared ??= createAnswerCheck(openapiOf(published), { areIdsChecked: false })
  const fault = declared.checkDeclared(method, url, { status, contentType: String(headers['content-type']), text })
  if (fault !== undefined) throw new Error(`${method} ${url} is answered otherwise than declared: ${fault}\n${text}`)
}
type Answered = { statusCode: number; headers: Record<string, unknown>; body: string }

/** The whole edge with fakes at its rim, and what the fakes saw. */
export const createEdge = (over: Partial<AppDeps & QueryDeps> = {}) => {
  const catalogue = over.catalogue ?? published
  const submit = createFakeSubmit(catalogue)
  const store = createFakeVerdictStore()
  const interactions = createFakeInteractions()
  const rejections = createFakeRejections()
  const waiting = createFakeWaiting()
  const feeds = createFakeFeed()
  const wakes = createWakes()
  const callers = new Map<string, Caller>([
    ['acme-key', acme],
    ['other-key', { orgId: 'other', keyId: 'k2', scopes: null }],
    ['shops-key', { orgId: 'acme', keyId: 'k3', scopes: ['shops:write'] }],
  ])
  const lines: Record<string, unknown>[] = []
  const log = pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) })
  const metrics = createMetrics('edge')
  const figures = createFigures(metrics)
  const now = () => startOfTest
  const config = readConfig(configSchema, {})
  const notes = createRequestNotes({ saveRequests: store.saveRequests, now, log })
  /** What integrity has accepted, as `org/type/id`. */
  const known = new Set<string>()
  const decided: (DecidedBatch & { org: string })[] = []
  const activity = createActivity({
    // Room for as many as on a real edge took a third of what it costs to make this one.
    mostCounted: 100,
    history: {
      count: async () => [],
      since: async (org) => decided.filter((each) => each.org === org),
    },
    interactionType: catalogue.interaction.type,
    now,
  })
  const deps: Omit<AppDeps, 'query'> & QueryDeps = {
    catalogue,
    findCaller: async (key) => callers.get(key),
    submit,
    sendLater: setImmediate,
    downloads: [],
    store,
    notes,
    hideErased: async (_, batches) => batches,
    findKnown: async (orgId) => {
      if (store.isAway) throw new Unavailable('Postgres is away')
      return ({ type, id }) => known.has(`${orgId}/${type}/${id}`)
    },
    findCurrent: async () => new Map(),
    noteMend: async () => {},
    readInteractions: interactions,
    rejections,
    reads: createReads(),
    waiting,
    waitingReads: createReads(10_000, 'waiting records'),
    shortestWait: config.MIN_WAIT_SECONDS * 1000,
    layout: () => usualLayout,
    untilSteady: () => undefined,
    forSubscribers: localAddresses,
    batchLimits: { records: 500, bytes: 524_288 },
    bodyLimit: 1024 * 1024,
    load: createLoad(boundsOf(config), figures),
    lag: createFakeLag(),
    rateLimits: createRateLimits({ defaults: ratesOf(config), figures, mostKeys: 100, now }),
    answerWithin: 30_000,
    importBounds: importBoundsOf(config),
    openOrg: undefined,
    network: readNetwork(config),
    readiness: {
      everything: async () => ({ status: 'not_ready', parts: { clickhouse: { ok: false, problem: 'away' } } }),
      uploads: async () => ({ status: 'ready', parts: {} }),
    },
    metricsText: metrics.text,
    pages: new Map(),
    activity,
    requestLists: { decided: async () => [], pending: async () => [] },
    lastAccepted: async () => [...catalogue.all.keys()].map((type) => ({ type, lastAcceptedAt: null })),
    countWaiting: async () => 0,
    countVerdicts: async () => [],
    countRows: async () => [],
    findThings: async () => [],
    findStored: async () => ({ types: [], complete: true }),
    findKeyOrg: async () => undefined,
    lagOf: () => 0,
    findJourney: async () => undefined,
    keys: createFakeKeys(),
    operators: createFakeOperators(),
    orgFigures: async () => ({ all: { organisations: 0, accepted: 0, refused: 0, waiting: 0 }, organisations: [] }),
    systemState: async () => ({ parts: [], storage: [], groups: null }),
    followers: { follow: async () => ({ tail: createTail(), leave: () => {} }) },
    findOlder: async () => [],
    decoders: { decoder: () => async (value) => JSON.parse(String(value)) },
    consoleReads: createReads(undefined, 'this'),
    auditReads: createReads(undefined, 'the audit'),
    feedReaders: createFeedReaders({ feed: feeds.feed, wakes, reads: createReads(undefined, 'feeds') }),
    writePage: createWritePage({ encoder: async () => (value) => Buffer.from(`?????${JSON.stringify(value)}`) }),
    readMartRows: async () => [],
    martReads: createReads(undefined, 'marts'),
    openPersonExport: async () => undefined,
    notePersonExport: async () => {},
    personReads: createReads(undefined, 'persons'),
    askAnalyst: async () => {
      throw new Error('there is no ClickHouse in this test')
    },
    sqlReads: createReads(undefined, 'the tables'),
    savedQueries: createFakeSavedQueries(),
    erasures: createFakeErasures(),
    webhooks: createFakeWebhooks(),
    figures,
    now,
    log,
    ...over,
  }
  const app = createApp({ ...deps, query: createQuery(deps) })

  const send = async (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD',
    url: string,
    body?: string | Buffer | object,
    headers: Record<string, string> = {},
  ) => {
    const payload =
      body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    const answer = await app.inject({
      method,
      url,
      headers: {
        authorization: 'Bearer acme-key',
        ...(payload !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(payload !== undefined && { payload }),
    })
    if (catalogue === published && method !== 'HEAD') expectDeclared(method, url, answer)
    const isJson = String(answer.headers['content-type']).startsWith('application/json') && answer.body !== ''
    return { status: answer.statusCode, headers: answer.headers, body: isJson ? answer.json() : answer.body }
  }
  return {
    app,
    send,
    submit,
    store,
    notes,
    known,
    interactions,
    rejections,
    waiting,
    feeds,
    wakes,
    callers,
    lines,
    metrics,
    activity,
    decided,
  }
}
