import { checkAcceptedTopics } from './check-accepted-topics.js'
import { checkAnswers } from './check-answers.js'
import { checkErasures, withoutErased } from './check-erasures.js'
import { checkFeeds } from './check-feeds.js'
import { checkInteractions } from './check-interactions.js'
import { checkRejections } from './check-rejections.js'
import { checkRequests } from './check-requests.js'
import { checkRetries } from './check-retries.js'
import { checkVerdicts } from './check-verdicts.js'
import { checkViews } from './check-views.js'
import { checkWaiting } from './check-waiting.js'
import type { Check } from './finding.js'

const checks: Check[] = [
  checkAnswers,
  checkViews,
  checkAcceptedTopics,
  checkRejections,
  checkVerdicts,
  checkRequests,
  checkInteractions,
  checkFeeds,
  checkWaiting,
  checkRetries,
]

/** Whether what clients were told and what the world has agree, everywhere. */
export const checkAll: Check = (ledger, observed) => {
  const others = withoutErased(ledger, observed)
  return [...checks.flatMap((check) => check(...others)), ...checkErasures(ledger, observed)]
}
