// The packages that the edge serves at /downloads/: the SDKs, the uploader and what assistants start, as npm packs them, and a wheel. Made in a folder of their own, because
// packing builds beside the sources. For the image: node deploy/embedded/setup/downloads.mjs dist/downloads
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hashOf } from './sources.mjs'
import { root, runTool } from './tool.mjs'
import { makeWheel } from './wheel.mjs'

const stamp = '.made-from'
const madeOf = [
  'clients/mcp',
  'clients/python/README.md',
  'clients/python/pyproject.toml',
  'clients/python/src',
  'clients/typescript',
  'clients/uploader',
  'schemas',
  'tsconfig.json',
  'package-lock.json',
  'LICENSE',
]

/** Puts the packages into `to`; takes them from `before`, where they were made from the same sources. */
export async function makeDownloads(to, before) {
  const hash = hashOf(madeOf)
  rmSync(to, { recursive: true, force: true })
  const earlier = before && join(before, stamp)
  if (earlier && existsSync(earlier) && readFileSync(earlier, 'utf8') === hash)
    return cpSync(before, to, { recursive: true })
  const folder = mkdtempSync(join(tmpdir(), 'weir-downloads-'))
  try {
    mkdirSync(to, { recursive: true })
    const client = stage(folder, 'clients/typescript', ['src', 'tsconfig.json', 'tsconfig.build.json'])
    const bundled = ['clients/uploader', 'clients/mcp'].map((path) => ({ path, staged: stage(folder, path, []) }))
    // Compiled where it is staged, so that its source maps name the sources that are packed with it.
    cpSync(join(root, 'tsconfig.json'), join(folder, 'tsconfig.json'))
    const nextStep = 'The edge goes without /downloads/; npm run check may show what is wrong.'
    const run = (name, args, cwd) => runTool({ name, command: process.execPath, args, nextStep, cwd })
    await run('pack-client', [bin('typescript/bin/tsc'), '-p', join(client, 'tsconfig.build.json')])
    const samples = [
      '-p',
      join(root, 'clients/typescript/tsconfig.samples.json'),
      '--outDir',
      join(client, 'dist/samples'),
    ]
    await run('pack-samples', [bin('typescript/bin/tsc'), ...samples])
    for (const { path, staged } of bundled) {
      const words = ['build', '--outDir', join(staged, 'dist'), '--emptyOutDir']
      await run(`pack-${path.split('/').at(-1)}`, [bin('vite/bin/vite.js'), ...words], join(root, path))
    }
    const npm = process.env.npm_execpath
    const pack = [
      'pack',
      client,
      ...bundled.map(({ staged }) => staged),
      '--ignore-scripts',
      '--pack-destination',
      resolve(to),
    ]
    await runTool({
      name: 'pack-downloads',
      command: npm ? process.execPath : 'npm',
      args: npm ? [npm, ...pack] : pack,
      nextStep,
      cwd: folder,
      env: withoutOptions(process.env),
    })
    makeWheel(to)
    writeFileSync(join(to, stamp), hash)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

// What npm took for itself of the command that this is done for: with `--dry-run` it would pack nothing.
const withoutOptions = (env) => Object.fromEntries(Object.entries(env).filter(([name]) => !/^npm_config_/i.test(name)))

const bin = (path) => join(root, 'node_modules', path)

function stage(folder, path, more) {
  const to = join(folder, path)
  mkdirSync(to, { recursive: true })
  for (const name of ['package.json', 'README.md', ...more])
    cpSync(join(root, path, name), join(to, name), { recursive: true })
  cpSync(join(root, 'LICENSE'), join(to, 'LICENSE'))
  return to
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await makeDownloads(process.argv[2] ?? 'dist/downloads')
