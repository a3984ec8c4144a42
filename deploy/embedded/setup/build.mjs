import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDownloads } from './downloads.mjs'
import { hashOf } from './sources.mjs'
import { root, runTool, SetUpFailure } from './tool.mjs'

const folders = ['schemas', 'services', 'clients', 'deploy']
const settings = ['package.json', 'package-lock.json', 'tsconfig.json']
const dist = join(root, 'dist')
const next = join(root, 'dist.next')
const stamp = join(dist, '.built-from')

/** Puts the programs and the console together in dist/, and the packages that the edge hands out. */
export const build = {
  title: 'build',
  seconds: 10,
  writes: [root, dist, next],
  isNeeded: () => !existsSync(stamp) || readFileSync(stamp, 'utf8') !== sourcesHash(),
  run: async (detail) => {
    const hash = sourcesHash()
    rmSync(next, { recursive: true, force: true })
    const put = (name, words) =>
      runTool({
        name,
        command: process.execPath,
        args: [join(root, 'node_modules/vite/bin/vite.js'), 'build', ...words],
        nextStep: 'npm run build shows why, and npm run check every error.',
      })
    const together = [
      put('build', ['--config', 'deploy/vite.config.ts', '--outDir', next, '--emptyOutDir', 'false']),
      put('console', ['clients/console', '--outDir', join(next, 'console')]),
    ]
    // None of them is at work any more when the other's failure is told.
    for (const { reason } of await Promise.allSettled(together)) if (reason) throw reason
    await withoutThem(detail, () => makeDownloads(join(next, 'downloads'), join(dist, 'downloads')))
    writeFileSync(join(next, '.built-from'), hash)
    // Replaced as a whole: a running system never sees a half-built dist, and nothing of a removed source stays.
    rmSync(dist, { recursive: true, force: true })
    renameSync(next, dist)
  },
}

const sourcesHash = () => hashOf([...settings, ...folders])

/** What uploaders install is good to have, and nothing that a system needs to start. */
async function withoutThem(detail, work) {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof SetUpFailure)) throw error
    detail('the packages at /downloads/ could not be made; .parts/logs/pack-*.log say why')
  }
}
