import { catalogue } from '../catalogue.js'

const streamOf = (type?: string) => (type === undefined ? undefined : catalogue.all.get(type)?.stream)

/** Every name that the outside relies on, in one place. */
export const submittedTopic = (type: string, generation = 0): string => `weir.submitted.${type}${suffixOf(generation)}`
/** The type whose batches a submitted topic holds. */
export const typeOfSubmitted = (topic: string): string => topic.slice(submittedTopic('').length).replace(/\.g\d+$/, '')
/** The generation that a submitted topic belongs to. */
export const generationOfSubmitted = (topic: string): number => Number(/\.g(\d+)$/.exec(topic)?.[1] ?? 0)
const suffixOf = (generation: number): string => (generation === 0 ? '' : `.g${generation}`)
export const acceptedTopic = (type: string): string => streamOf(type)?.topic ?? `weir.accepted.${type}`
/** The type whose accepted records a topic holds. */
export const typeOfAccepted = (topic: string): string =>
  [...catalogue.all.values()].find(({ type }) => acceptedTopic(type) === topic)?.type ?? ''
export const isAcceptedTopic = (topic: string): boolean =>
  topic.startsWith('weir.accepted.') || [...catalogue.all.values()].some(({ stream }) => stream?.topic === topic)
export const rejectedTopic = 'weir.rejected'
export const verdictsTopic = 'weir.verdicts'
export const waitingTopic = 'weir.waiting'
export const erasuresTopic = 'weir.erasures'

/** The consumer groups of integrity and sink; a type that is a stream for itself has its own. */
export const integrityGroupOf = (type?: string, generation = 0): string =>
  groupOf('weir-integrity', type) + suffixOf(generation).replace('.', '-')
export const sinkGroupOf = (type?: string): string => groupOf('weir-sink', type)
const groupOf = (group: string, type?: string): string => (streamOf(type) ? `${group}-${type}` : group)

/** What the groups of edges begin with: each edge has its own, and is a member for as long as it runs. */
export const edgeGroups = 'weir-edge-'

/** The group by which the delivery services share the verdicts. */
export const deliveryGroup = 'weir-delivery'

export const subjectOf = (topic: string): string => `${topic}-value`

export const database = 'weir'
/** The views of the database once more, with persons masked. */
export const maskedDatabase = 'weir_masked'
/** By organisation, the secret that its persons' pseudonyms are made with. */
export const maskSaltsTable = 'mask_salts'
export const viewOf = (type: string): string => type.replaceAll('-', '_')
export const logTableOf = (type: string): string => `${viewOf(type)}_log`
export const currentTableOf = (type: string): string => `${viewOf(type)}_current`
/** The materialized view that copies what is written to the log into the table of the newest versions. */
export const currentFeedOf = (type: string): string => `${viewOf(type)}_current_feed`
export const historyViewOf = (type: string): string => `${viewOf(type)}_history`
export const asOfViewOf = (type: string): string => `${viewOf(type)}_as_of`
export const rejectionsView = 'rejections'
export const rejectionsLog = 'rejections_log'
export const waitingView = 'waiting'
export const waitingLog = 'waiting_log'
/** The rows of a mart that are kept for large organisations; and which of them are shown. */
export const keptTableOf = (mart: string): string => `${mart}_kept`
export const shownTable = 'marts_kept'
/** The rows of a kept mart of all organisations for which none are kept; and the same, asked for only where there is one. */
export const notKeptViewOf = (mart: string): string => `${mart}_not_kept`
export const notKeptIfAnyOf = (mart: string): string => `${mart}_not_kept_if_any`
/** Transactions a second time, sorted by the parts of a kept mart. */
export const sortedTableOf = (mart: string): string => `transactions_for_${mart}`
/** When records of an organisation and a type were last written, and the materialized view that notes it. */
export const changesTable = 'changes'
export const changesFeedOf = (type: string): string => `${viewOf(type)}_changes_feed`
/** Segments of an organisation's own, who is and was in them, and how many were in each segment. */
export const ownSegmentsTable = 'own_segments_log'
export const ownMembersTable = 'own_members_log'
export const segmentSizesTable = 'segment_sizes_log'
/** What was received, accepted and refused, of each type and day. */
export const qualityView = 'quality'

/** shop-categories → ShopCategories */
export const avroNameOf = (type: string): string =>
  type
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')

/** The key of an accepted event: all versions of one record meet in one partition. */
export const entityKey = (orgId: string, id: string): string => `${orgId}/${id}`

// No two messages of these topics share a key, unless they are the same one twice: so a single one can be removed by compaction, and no
// other goes with it.
export const submittedKey = ({ org_id, batch_id }: { org_id: string; batch_id: string }): string =>
  `${org_id}/${batch_id}`
export const rejectedKey = ({ org_id, batch_id, index }: { org_id: string; batch_id: string; index: number }): string =>
  `${org_id}/${batch_id}/${index}`
export const waitingKey = ({ org_id, id, version }: { org_id: string; id: string; version: number }): string =>
  `${org_id}/${id}/${version}`

/** What of a key decides on the partition: an organisation's refusals of one batch are in one, and the changes of one waiting record. */
export const togetherOf = (key: string): string => key.split('/', 2).join('/')

/** The organisation that a key of any topic begins with. */
export const orgOfKey = (key: string): string => key.split('/', 1)[0] ?? ''
