import { erasuresScenario } from './erasures.js'
import { type FailPointName, failPointScenario, failPoints } from './fail-points.js'
import { chaos, kills } from './faults.js'
import { lanesScenario } from './lanes.js'
import { rebalanceScenario } from './rebalance.js'
import type { Scenario } from './run.js'

const failPointNames = Object.keys(failPoints) as FailPointName[]

/** Every kind of history, by the name that `--only` takes. Made anew for each run. */
export const scenarios: ReadonlyMap<string, () => Scenario> = new Map<string, () => Scenario>([
  ...failPointNames.map((point) => [point, () => failPointScenario([point])] as const),
  ['rebalance', () => rebalanceScenario()],
  ['lanes', () => lanesScenario()],
  ['erasures', () => erasuresScenario()],
  ['kills', () => kills],
  ['chaos', () => chaos],
])
