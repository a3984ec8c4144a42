import type { Reporter, TestModule } from 'vitest/node'
import { computedBy } from './processor-time.js'
import { isDeep } from './sized.js'

/**
 * What a file may cost in processor time, by its suffix: about half as much again as the dearest one does (attacks, page, faults), in
 * seconds, and as a share of all tests. Over both it fails: the same test takes two or three times as many seconds on a slow
 * machine, and then so do all others. No budget for deep tests.
 */
const budgets: Readonly<Record<string, { seconds: number; share: number }>> = {
  unit: { seconds: 45, share: 0.03 },
  int: { seconds: 60, share: 0.03 },
  e2e: { seconds: 250, share: 0.2 },
}
const shown = 40

type Cost = { file: string; project: string; clock: number; processor: number }

/**
 * Ends the run with what it cost: each project, all, the dearest files, and the files over their budget, for which
 * the run fails. A budget is in processor time, so that a busy machine makes no file fail.
 */
export const testCosts: Reporter = {
  onTestRunEnd: (modules) => {
    const costs = modules.map(costOf)
    const lines = [...projectLines(costs), ...dearestLines(costs), ...overBudget(costs)]
    process.stdout.write(`\n${lines.join('\n')}\n`)
    if (overBudget(costs).length > 0) process.exitCode = 1
  },
}

const costOf = (module: TestModule): Cost => {
  const { collectDuration, duration } = module.diagnostic()
  return {
    file: module.relativeModuleId,
    project: module.project.name,
    clock: (collectDuration + duration) / 1000,
    processor: (module.meta().processorTime ?? 0) / 1000,
  }
}

const row = (clock: number, processor: number, text: string): string =>
  `${clock.toFixed(1).padStart(8)} s ${processor.toFixed(1).padStart(8)} s  ${text}`

const heading = `  by clock   processor`

const projectLines = (costs: readonly Cost[]): string[] => {
  const projects = [...new Set(costs.map(({ project }) => project))]
  const sum = (of: readonly Cost[], key: 'clock' | 'processor') => of.reduce((total, cost) => total + cost[key], 0)
  return [
    `${heading}  project`,
    ...projects.map((project) => {
      const own = costs.filter((cost) => cost.project === project)
      return row(sum(own, 'clock'), sum(own, 'processor'), `${project}, ${own.length} files`)
    }),
    row(
      process.uptime(),
      computedBy([process.pid]) / 1000,
      "all, with what is no file's: vitest, the starts of systems, the parts that int tests share",
    ),
  ]
}

const dearestLines = (costs: readonly Cost[]): string[] => [
  `${heading}  the ${Math.min(shown, costs.length)} dearest files`,
  ...[...costs]
    .sort((a, b) => b.processor - a.processor)
    .slice(0, shown)
    .map(({ clock, processor, file }) => row(clock, processor, file)),
]

const overBudget = (costs: readonly Cost[]): string[] => {
  const total = costs.reduce((sum, { processor }) => sum + processor, 0)
  return costs.flatMap(({ project, processor, file }) => {
    const { seconds, share } = (!isDeep && budgets[project]) || none
    return processor > seconds && processor > share * total
      ? [
          `OVER BUDGET: ${file} computed for ${processor.toFixed(1)} s, and ${project} tests may for ${seconds} s: make it smaller, or move it to the deep tests (CONTRIBUTING.md)`,
        ]
      : []
  })
}

const none = { seconds: Number.POSITIVE_INFINITY, share: 1 }
