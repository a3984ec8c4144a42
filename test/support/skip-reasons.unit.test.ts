import { expect, it, vi } from 'vitest'
import { skipReasons } from './skip-reasons.js'

it('names each test that was skipped for a reason, and the reason', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const skipped = [
    { fullName: 'a disk > is full', result: () => ({ state: 'skipped', note: 'no disk to fill: not permitted' }) },
    { fullName: 'chosen by nobody', result: () => ({ state: 'skipped' }) },
  ]
  const files = [{ relativeModuleId: 'test/disk.int.test.ts', children: { allTests: () => skipped } }]
  skipReasons.onTestRunEnd?.(files as never, [], 'passed')
  const said = write.mock.calls.map(([text]) => text)
  write.mockRestore()
  expect(said).toEqual(['skipped: test/disk.int.test.ts > a disk > is full\n  no disk to fill: not permitted\n'])
})
