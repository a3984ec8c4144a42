import type { Catalogue } from '../catalogue.js'
import { listAudit, listOwnAudit, verifyAudit, verifyOwnAudit } from './access/audit.js'
import * as keys from './access/keys.js'
import { limitOrganisation, listOrganisations, rankOrganisations, readSystem } from './access/organisations.js'
import { readFeed, readFeeds } from './downstream/feeds.js'
import { listTopicEvents, listTopics, watchTopic } from './downstream/topics.js'
import * as webhooks from './downstream/webhooks.js'
import type { Endpoint } from './endpoint.js'
import { readHealth, readMetrics, readReadiness } from './health.js'
import { listInteractionsOf, recordInteractionOf } from './interactions.js'
import { listMarts, readMart } from './marts.js'
import { readActivity, readOverview, watch } from './overview.js'
import { createErasure, listErasures, readErasure } from './persons/erasures.js'
import { exportPerson } from './persons/persons.js'
import { listTypes, readMe } from './reference.js'
import {
  countRejectedValues,
  listRejections,
  lookUpRetry,
  readQuality,
  retryRejections,
  summariseRejections,
} from './rejections.js'
import { findId, followRecord, listRequests, lookUpRequest } from './requests.js'
import * as saved from './sql/saved-queries.js'
import { runSql } from './sql/sql.js'
import { importOf, uploadOf } from './uploads.js'
import { cancelWaiting, listMissing, listWaiting } from './waiting.js'

/** Those that are the same whatever the catalogue holds. */
export const fixedEndpoints = [
  lookUpRequest,
  listRejections,
  summariseRejections,
  countRejectedValues,
  retryRejections,
  lookUpRetry,
  readQuality,
  listMissing,
  listWaiting,
  cancelWaiting,
  readFeed,
  readFeeds,
  webhooks.createWebhook,
  webhooks.listWebhooks,
  webhooks.readWebhook,
  webhooks.changeWebhook,
  webhooks.deleteWebhook,
  webhooks.rotateWebhook,
  webhooks.testWebhook,
  webhooks.listDeliveries,
  webhooks.replayDeliveries,
  listMarts,
  readMart,
  runSql,
  exportPerson,
  createErasure,
  listErasures,
  readErasure,
  saved.listQueries,
  saved.saveQuery,
  saved.deleteQuery,
  listRequests,
  findId,
  readOverview,
  readActivity,
  watch,
  listTopicEvents,
  watchTopic,
  followRecord,
  readMe,
  listTypes,
  listTopics,
  keys.listOwnKeys,
  keys.issueOwnKey,
  keys.renameOwnKey,
  keys.rotateOwnKey,
  keys.revokeOwnKey,
  listOwnAudit,
  verifyOwnAudit,
  listOrganisations,
  limitOrganisation,
  rankOrganisations,
  readSystem,
  keys.listKeys,
  keys.issueKey,
  keys.renameKey,
  keys.rotateKey,
  keys.revokeKey,
  listAudit,
  verifyAudit,
  readHealth,
  readReadiness,
  readMetrics,
] as const satisfies readonly Endpoint[]

/** Every endpoint, in the order in which the document shows them. */
export const endpointsOf = (catalogue: Catalogue): Endpoint[] => {
  const types = [...catalogue.all.values()]
  return [
    ...types.map(uploadOf),
    ...types.map(importOf),
    recordInteractionOf(catalogue.interaction),
    listInteractionsOf(catalogue.interaction),
    ...fixedEndpoints,
  ]
}
