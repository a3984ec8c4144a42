import { defineConfig } from 'vitest/config'

// The suffix says the cost: .unit runs in milliseconds, .int talks to one real server, .e2e is a journey through all of it.
const project = (name: string, extra: Record<string, unknown> = {}) => ({
  extends: true as const,
  test: { name, include: [`test/**/*.${name}.test.ts`], ...extra },
})

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    projects: [
      // Milliseconds each; the bound is for machines that are busy with something else.
      project('unit', { testTimeout: 30_000 }),
      project('int', { globalSetup: ['test/support/parts.ts'], testTimeout: 60_000, hookTimeout: 180_000 }),
      project('e2e', {
        globalSetup: ['test/support/whole-system.ts'],
        testTimeout: 120_000,
        hookTimeout: 240_000,
        fileParallelism: false,
      }),
    ],
  },
})
