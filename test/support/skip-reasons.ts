import type { Reporter } from 'vitest/node'

/** Ends the summary with the tests that were skipped for a reason, and the reason: vitest's own only counts them. */
export const skipReasons: Reporter = {
  onTestRunEnd: (modules) => {
    for (const { relativeModuleId, children } of modules) {
      for (const test of children.allTests('skipped')) {
        const { note } = test.result() as { note?: string }
        if (note) process.stdout.write(`skipped: ${relativeModuleId} > ${test.fullName}\n  ${note}\n`)
      }
    }
  },
}
