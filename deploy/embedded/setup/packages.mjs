import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, runTool } from './tool.mjs'

/** The npm packages. `npm ci` is needed when the packages that npm recorded as installed are not those of the lockfile. */
export const packages = {
  title: 'npm packages',
  seconds: 30,
  writes: [root, join(root, 'node_modules')],
  isNeeded: () => {
    // npm writes this record last, so an interrupted installation has none.
    const record = join(root, 'node_modules/.package-lock.json')
    return !existsSync(record) || !isInstalled(packagesIn(join(root, 'package-lock.json')), packagesIn(record))
  },
  run: async (detail) => {
    detail('330 MB, unless npm has them already')
    const npm = process.env.npm_execpath
    // Under NODE_ENV=production npm would leave out the build tools and the embedded parts.
    const args = ['ci', '--include=dev', '--include=optional']
    await runTool({
      name: 'npm-ci',
      command: npm ? process.execPath : 'npm',
      args: npm ? [npm, ...args] : args,
      nextStep: 'Check the connection to the npm registry (npm ping), then run the same command again.',
    })
  },
}

const packagesIn = (file) => JSON.parse(readFileSync(file, 'utf8')).packages

function isInstalled(wanted, installed) {
  const isSame = (path) =>
    installed[path]?.version === wanted[path].version && installed[path]?.integrity === wanted[path].integrity
  const isOptional = (path) => wanted[path].optional || wanted[path].devOptional || wanted[path].peer
  const hasAll = Object.keys(wanted).every(
    (path) => path === '' || isSame(path) || (isOptional(path) && !installed[path]),
  )
  return hasAll && Object.keys(installed).every((path) => path in wanted)
}
