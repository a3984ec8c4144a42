import { spawnSync } from 'node:child_process'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'
import { fromSources } from '../conformance/drive-python.js'

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0

it('holds what uploads and recorders promise, with threads and with asyncio', async ({ skip }) => {
  if (!hasPython) skip('there is no Python 3.9 or later here')
  const { stderr, failed } = await execa('python3', [`${packageRoot}/test/clients/python/rules.py`], {
    env: { PYTHONDONTWRITEBYTECODE: '1', ...fromSources.env },
    reject: false,
  })
  expect(failed, stderr).toBe(false)
})
