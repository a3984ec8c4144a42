import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { failuresAtOnce } from './test/support/failures-at-once.js'
import { skipReasons } from './test/support/skip-reasons.js'
import { testCosts } from './test/support/test-costs.js'

// The suffix says the cost: .unit runs in milliseconds, .int talks to one real server, .e2e is a journey through all of it, .deep a long or
// rare one.
const project = (name: string, extra: Record<string, unknown> = {}) => ({
  extends: true as const,
  test: { name, include: [`test/**/*.${name}.test.ts`], ...extra },
})

// Three journeys at a time, each worker with a whole system of its own: while one waits, the others keep two cores busy.
const journeys = {
  globalSetup: ['test/support/system/systems.ts'],
  testTimeout: 600_000,
  hookTimeout: 600_000,
  maxWorkers: 3,
}
// After the journeys, and more of them at a time: an integration test mostly waits for its server. With three, the machine
// computed for half of their time.
const short = { maxWorkers: 5, sequence: { groupOrder: 1 } }

// These read a system's whole log again and again, or stop and start all of it: first, while hardly anything is in it.
const first = [
  ...['rebuild-index', 'rebuild-analytics', 'restart', 'verify', 'faults'],
  ...['erasure', 'persons', 'tenancy', 'retention', 'journeys/console', 'console/console', 'feeds'],
]
const isFirst = ({ moduleId }: TestSpecification) => first.some((name) => moduleId.endsWith(`/${name}.e2e.test.ts`))

class LightFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return [...sorted.filter(isFirst), ...sorted.filter((file) => !isFirst(file))]
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LightFirst },
    // A process for each file would load everything anew for each: 160 s in all, of 20 minutes.
    isolate: false,
    reporters: ['default', failuresAtOnce, skipReasons, testCosts],
    setupFiles: ['test/support/note-processor-time.ts'],
    projects: [
      // Milliseconds each. These bounds end what hangs: a machine that is busy with something else makes tests slow, never red.
      project('unit', { ...short, testTimeout: 120_000 }),
      project('int', {
        ...short,
        globalSetup: ['test/support/parts.ts'],
        testTimeout: 300_000,
        hookTimeout: 300_000,
      }),
      project('e2e', journeys),
      // What is run before a release (`npm run test:deep`).
      project('deep', journeys),
    ],
  },
})
