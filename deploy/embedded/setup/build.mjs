import { createHash } from 'node:crypto'
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, runTool } from './tool.mjs'

const folders = ['schemas', 'services', 'clients', 'deploy']
const settings = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json']
const dist = join(root, 'dist')
const next = join(root, 'dist.next')
const stamp = join(dist, '.built-from')

/** Compiles TypeScript into dist/, puts the console together there, and copies there the files that the code reads when it runs (SQL, pages, schemas). */
export const build = {
  title: 'build',
  writes: [root, dist, next],
  isNeeded: () => !existsSync(stamp) || readFileSync(stamp, 'utf8') !== sourcesHash(),
  run: async () => {
    const hash = sourcesHash()
    rmSync(next, { recursive: true, force: true })
    await runTool({
      name: 'build',
      command: process.execPath,
      args: [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', '--outDir', next],
      nextStep: 'The sources do not compile; npm run check shows every error.',
    })
    await runTool({
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
    for (const folder of folders.filter((name) => existsSync(join(root, name)))) {
      cpSync(join(root, folder), join(next, folder), {
        recursive: true,
        filter: (from) => !/\.m?ts$|\/clients\/console$/.test(from),
      })
    }
    writeFileSync(join(next, '.built-from'), hash)
    // Replaced as a whole: a running system never sees a half-built dist, and nothing of a removed source stays.
    rmSync(dist, { recursive: true, force: true })
    renameSync(next, dist)
  },
}

function sourcesHash() {
  const hash = createHash('sha256')
  const add = (path) =>
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0')
  for (const name of settings) if (existsSync(join(root, name))) add(name)
  for (const folder of folders) for (const path of filesIn(folder)) add(path)
  return hash.digest('hex')
}

function filesIn(folder) {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
    .sort()
}
