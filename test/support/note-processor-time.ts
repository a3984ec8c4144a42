// Runs before each test file: notes what the file costs, for the summary and its budgets (test/support/test-costs.ts).
import { afterAll, TestRunner } from 'vitest'
import { beginFile } from './processor-time.js'

const { file } = TestRunner.getCurrentSuite()
const costSoFar = beginFile()
afterAll(() => {
  if (file) file.meta.processorTime = costSoFar()
})
