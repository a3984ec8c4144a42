import type { Catalogue } from '../catalogue.js'
import type { Endpoint } from './endpoint.js'
import { readHealth, readMetrics, readReadiness } from './health.js'
import { listInteractionsOf, recordInteractionOf } from './interactions.js'
import { issueKey, limitOrganisation, listKeys, listOrganisations, revokeKey, rotateKey } from './operators.js'
import { readActivity, readOverview, watch } from './overview.js'
import { listTypes, readMe } from './reference.js'
import { listRejections, lookUpRetry, readQuality, retryRejections, summariseRejections } from './rejections.js'
import { findId, followRecord, listRequests, lookUpRequest } from './requests.js'
import { listTopicEvents, listTopics, watchTopic } from './topics.js'
import { importOf, uploadOf } from './uploads.js'
import { cancelWaiting, listMissing, listWaiting } from './waiting.js'

/** Those that are the same whatever the catalogue holds. */
export const fixedEndpoints = [
  lookUpRequest,
  listRejections,
  summariseRejections,
  retryRejections,
  lookUpRetry,
  readQuality,
  listMissing,
  listWaiting,
  cancelWaiting,
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
  listOrganisations,
  limitOrganisation,
  listKeys,
  issueKey,
  rotateKey,
  revokeKey,
  readHealth,
  readReadiness,
  readMetrics,
] as const satisfies readonly Endpoint[]

/** Every endpoint, in the order in which the document shows them. */
export const endpointsOf = (catalogue: Catalogue): Endpoint[] => {
  const types = [...catalogue.uploads.values()]
  return [
    ...types.map(uploadOf),
    ...types.map(importOf),
    recordInteractionOf(catalogue.interaction),
    listInteractionsOf(catalogue.interaction),
    ...fixedEndpoints,
  ]
}
