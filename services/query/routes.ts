import type { FastifyInstance } from 'fastify'
import type { FindCaller } from '#http/authenticate.js'
import type { EndpointRoute } from '#http/endpoint.js'
import type { ConsumerAddresses } from '#schemas/derive/topic-reference/consumers.js'
import type { Layout } from '#schemas/derive/topics.js'
import type { Pages } from './console/pages.js'
import { addConsole } from './console/route.js'
import { addErasures, type ErasureDeps } from './erasures/route.js'
import { addFeeds, type FeedDeps } from './feeds/route.js'
import { addFind, type FindDeps } from './find.js'
import { createListInteractions, type ReadInteractions } from './interactions/list-interactions.js'
import type { FindJourney } from './journey/find-journey.js'
import { addJourney } from './journey/route.js'
import { addKeys, type KeyDeps } from './keys/route.js'
import type { Activity } from './live/activity.js'
import { addHistory, type HistoryDeps } from './live/history.js'
import { addLive } from './live/route.js'
import { addStreams } from './live/streams.js'
import { addMarts, type MartDeps } from './marts/route.js'
import { addOperators, type OperatorDeps } from './operators/route.js'
import { addOverview, type OverviewDeps } from './overview.js'
import { addPersons, type PersonDeps } from './persons/route.js'
import { addReference } from './reference.js'
import { addRejections, type RejectionDeps } from './rejections/route.js'
import { addRequestList, type RequestLists } from './requests.js'
import { addSql, type SqlDeps } from './sql/route.js'
import { addSavedQueries, type SavedQueryDeps } from './sql/saved-queries.js'
import { addTopicEvents, type TopicEventDeps } from './topics/route.js'
import { addWaiting, type WaitingDeps } from './waiting/route.js'
import { addWebhooks, type WebhookDeps } from './webhooks/route.js'

/** What the routes of the read side ask. */
export type QueryDeps = RejectionDeps &
  WaitingDeps &
  MartDeps &
  ErasureDeps &
  PersonDeps &
  SqlDeps &
  SavedQueryDeps &
  OverviewDeps &
  FindDeps &
  HistoryDeps &
  TopicEventDeps &
  FeedDeps &
  WebhookDeps &
  KeyDeps &
  OperatorDeps & {
    findCaller: FindCaller
    layout: () => Layout
    forSubscribers: ConsumerAddresses
    pages: Pages
    activity: Pick<Activity, 'watch'>
    requestLists: RequestLists
    findJourney: FindJourney
    readInteractions: ReadInteractions
  }

export type Query = {
  /** The console's pages, which need no key. */
  addPages: (app: FastifyInstance) => void
  /** Everything else, for an app that has checked the key and parses bodies. */
  mount: (guarded: FastifyInstance) => void
  /** GET of the address at which interactions are recorded. */
  listInteractions: EndpointRoute
}

export const createQuery = (deps: QueryDeps): Query => ({
  addPages: (app) => addConsole(app, deps),
  mount: (guarded) => {
    addRequestList(guarded, deps)
    addOverview(guarded, deps)
    addHistory(guarded, deps)
    addFind(guarded, deps)
    addJourney(guarded, deps)
    addKeys(guarded, deps)
    addOperators(guarded, deps)
    addReference(guarded, deps)
    const streams = addStreams(guarded, deps)
    addLive(guarded, { ...deps, streams })
    addTopicEvents(guarded, { ...deps, streams })
    addFeeds(guarded, deps)
    addWebhooks(guarded, deps)
    addRejections(guarded, deps)
    addWaiting(guarded, deps)
    addMarts(guarded, deps)
    addErasures(guarded, deps)
    addPersons(guarded, deps)
    addSql(guarded, deps)
    addSavedQueries(guarded, deps)
  },
  listInteractions: createListInteractions(deps),
})
