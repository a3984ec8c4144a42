import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { packageRoot } from '#platform/process/package-root.js'
import type { Snippet } from './snippets.js'

/**
 * What lets the `pip install` of these snippets find its packages without a network: they are downloaded once, and kept beside
 * the jars. Where there is no Python, or no way to its packages, why.
 */
export const openPythonPackages = async (
  snippets: Snippet[],
): Promise<{ env: Record<string, string> } | { whyNot: string }> => {
  const installed = snippets.flatMap(({ text }) => [...text.matchAll(/\bpip install ([^#\n]+)/g)])
  const packages = installed.map(([, names]) => names).join(' ')
  const python = await run('python3', ['-c', 'import sys, platform; print(sys.version, platform.platform())'])
  if (python.failed) return { whyNot: `no Python: ${complaintOf(python)}` }
  const name = createHash('sha256').update(`${python.stdout} ${packages}`).digest('hex').slice(0, 12)
  const folder = join(packageRoot, '.parts/python', name)
  const whyNot = existsSync(folder) ? undefined : await download(packages, folder)
  if (whyNot) return { whyNot }
  // Compiling what is installed, used or not, would take half of the time.
  const found = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: folder, PIP_COMPILE: '0', PIP_DISABLE_PIP_VERSION_CHECK: '1' }
  return { env: found }
}

/** Returns why it cannot be done here. Throws when pip is there and reaches its index, but does not find what a page names. */
const download = async (packages: string, folder: string): Promise<string | undefined> => {
  await mkdir(dirname(folder), { recursive: true })
  const unfinished = await mkdtemp(`${folder}-`)
  try {
    const venv = await run('python3', ['-m', 'venv', join(unfinished, 'venv')])
    if (venv.failed) return `no Python environment: ${complaintOf(venv)}`
    // Through a shell, because the packages are words for a shell on the pages.
    const pip = await run('bash', ['-c', `venv/bin/pip download --quiet --dest found ${packages}`], unfinished)
    if (pip.failed && /\bRetrying\b/.test(pip.stderr)) return `no way to Python's packages: ${complaintOf(pip)}`
    if (pip.failed) throw new Error(`pip does not find ${packages}: ${complaintOf(pip)}`)
    await rename(join(unfinished, 'found'), folder)
    return undefined
  } finally {
    await rm(unfinished, { recursive: true, force: true })
  }
}

const run = (command: string, args: string[], cwd = packageRoot) => execa(command, args, { cwd, reject: false })

const complaintOf = ({ stderr, shortMessage = '' }: { stderr: string; shortMessage?: string | undefined }): string =>
  stderr.trim().split('\n').at(-1) || shortMessage
