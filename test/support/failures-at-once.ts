import type { Reporter } from 'vitest/node'

/** Says at once why a test failed: vitest's own list comes at the end, which a run that is stopped half-way never reaches. */
export const failuresAtOnce: Reporter = {
  onTestCaseResult: (test) => {
    for (const error of test.result().errors ?? [])
      process.stdout.write(`${test.fullName}: ${error.stack ?? error.message}\n`)
  },
}
