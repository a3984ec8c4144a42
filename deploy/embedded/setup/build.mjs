import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDownloads } from './downloads.mjs'
import { hashOf, isSource } from './sources.mjs'
import { root, runTool, SetUpFailure } from './tool.mjs'

const folders = ['schemas', 'services', 'clients', 'deploy']
const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
const dist = join(root, 'dist')
const next = join(root, 'dist.next')
const stamp = join(dist, '.built-from')

/** Compiles TypeScript into dist/, puts the console together there, and copies there the files that the code reads when it runs (SQL, pages, schemas). */
export const build = {
  title: 'build',
  seconds: 18,
  writes: [root, dist, next],
  isNeeded: () => !existsSync(stamp) || readFileSync(stamp, 'utf8') !== sourcesHash(),
  run: async (detail) => {
    const hash = sourcesHash()
    rmSync(next, { recursive: true, force: true })
    // Without a look at the types, which npm run check has: that takes two thirds of the time, and changes nothing in what is written.
    const compiled = runTool({
      name: 'build',
      command: process.execPath,
      args: [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--noCheck', '--outDir', next],
      nextStep: 'The sources do not compile; npm run check shows every error.',
    })
    // Beside the compiler, which has work for one core.
    const console = runTool({
      name: 'console',
      command: process.execPath,
      args: [
        join(root, 'node_modules/vite/bin/vite.js'),
        'build',
        'clients/console',
        '--outDir',
        join(next, 'console'),
      ],
      nextStep: 'The console cannot be put together; npm run build shows why.',
    })
    // None of them is at work any more when the other's failure is told.
    for (const { reason } of await Promise.allSettled([compiled, console])) if (reason) throw reason
    for (const folder of folders.filter((name) => existsSync(join(root, name)))) {
      const isCopied = (from) => !/\.m?ts$|\/clients\/console$/.test(from) && isSource(from.slice(root.length))
      cpSync(join(root, folder), join(next, folder), { recursive: true, filter: isCopied })
    }
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
