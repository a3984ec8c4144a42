import { customersByAttribute, customersOverview } from './customers.js'
import { funnel, interactionsByDay } from './interest.js'
import { martsAsOf } from './kept-marts.js'
import type { Mart } from './mart.js'
import { offersUsed } from './offers-used.js'
import { recommendationLift, recommendations, recommendationsById } from './recommendations.js'
import { refusalsByDay } from './refusals.js'
import { cohorts, salesByDay } from './sales.js'
import { customerSegments, segmentMembers } from './segments/named.js'
import { ownSegments, segmentSizes } from './segments/own.js'
import { shopsOverview } from './shops-overview.js'

/** In the order in which their views are made: some are read by others after them. */
export const marts: readonly Mart[] = [
  salesByDay,
  cohorts,
  offersUsed,
  shopsOverview,
  customersOverview,
  customersByAttribute,
  customerSegments,
  segmentMembers,
  ownSegments,
  segmentSizes,
  recommendations,
  recommendationsById,
  recommendationLift,
  interactionsByDay,
  funnel,
  refusalsByDay,
  martsAsOf,
]
