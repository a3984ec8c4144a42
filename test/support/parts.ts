// The `int` tests share one set of parts; each test file makes its own database, topics or groups on them.
import type { TestProject } from 'vitest/node'
import type { Addresses } from '../../deploy/embedded/launcher/config.js'
import { startParts } from './stack.js'

declare module 'vitest' {
  interface ProvidedContext {
    parts: Addresses
  }
}

export default async (project: TestProject): Promise<() => Promise<void>> => {
  const { env, stop } = await startParts()
  project.provide('parts', env)
  return stop
}
