import { join } from 'node:path'
import { expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'

it('says for each step that it began, how long it took, and what is left', async () => {
  const { createProgress } = await import(join(packageRoot, 'deploy/embedded/setup/progress.mjs'))
  const written: string[] = []
  const { step } = createProgress({ write: (text: string) => written.push(text) })
  await step('build', async () => {}, '; left: quick starts, about 12 s')
  await step('quick starts', async () => {})
  expect(written.filter((text) => text !== '').map((text) => text.replace(/^\[.*?\] /, ''))).toEqual([
    'build …\n',
    expect.stringMatching(/^build: done in \d+\.\d s; left: quick starts, about 12 s\n$/),
    'quick starts …\n',
    expect.stringMatching(/^quick starts: done in \d+\.\d s\n$/),
  ])
})
