import type { TypeReference } from '../../typescript/src/endpoints.js'

// What the edge answers, by the names that the console has for it.
export type {
  AnswerTo,
  AwaitedRecord as MissingShown,
  BatchAnswer as BatchShown,
  Endpoints,
  FieldReference as FieldShown,
  Journey as JourneyShown,
  JourneyStep as StepShown,
  KeyListed as KeyShown,
  KeyMade,
  LiveHistory,
  LiveRates as LiveBucket,
  Me as Myself,
  OrganisationListed as OrganisationShown,
  Overview as OverviewShown,
  QualityDay as QualityDayShown,
  Rejection as RefusalShown,
  TopicEvent as TopicEventShown,
  TypeReference as TypeShown,
} from '../../typescript/src/endpoints.js'

/** Whether each record of the type is sent in a request of its own. */
export const comesAlone = ({ limit }: Pick<TypeReference, 'limit'>): boolean => limit === 1
