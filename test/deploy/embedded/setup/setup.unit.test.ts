import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { packageRoot } from '#platform/process/package-root.js'

const embedded = join(import.meta.dirname, '../../../../deploy/embedded')

/** What a file imports, and what those files import. */
const importsFrom = (file: string, found = new Map<string, string[]>()): Map<string, string[]> => {
  if (found.has(file)) return found
  const names = [...readFileSync(file, 'utf8').matchAll(/^import .*?'([^']+)'$/gms)].map(([, name = '']) => name)
  found.set(file, names)
  for (const name of names.filter((each) => each.startsWith('.'))) importsFrom(join(dirname(file), name), found)
  return found
}

it.each(['start', 'test', 'weir', 'run-source'])(
  'runs %s.mjs on Node alone: nothing is installed or compiled yet',
  (door) => {
    const names = [...importsFrom(join(embedded, `${door}.mjs`)).values()].flat()
    expect(names).toContain('./setup/setup.mjs')
    expect(names.filter((name) => !name.startsWith('node:') && !name.endsWith('.mjs'))).toEqual([])
  },
)

describe('the Node that it runs on', () => {
  const load = (path: string) => readFileSync(join(packageRoot, path), 'utf8')
  const { engines } = JSON.parse(load('package.json'))

  it.each(['20.19.0', '20.20.2', '22.12.0', '22.23.3', '24.0.0', '24.21.0', '26.10.0', '27.0.0'])(
    'may be %s',
    async (version) => {
      const { isInRange } = await import(join(embedded, 'setup/setup.mjs'))
      expect(isInRange(version, engines.node)).toBe(true)
    },
  )

  it.each(['18.20.8', '20.18.3', '21.7.3', '22.11.0', '23.11.1', '25.9.0'])('may not be %s', async (version) => {
    const { isInRange } = await import(join(embedded, 'setup/setup.mjs'))
    expect(isInRange(version, engines.node)).toBe(false)
  })

  it('is the same in the lockfile, and in the image one that may be', async () => {
    const { isInRange } = await import(join(embedded, 'setup/setup.mjs'))
    expect(JSON.parse(load('package-lock.json')).packages[''].engines).toEqual(engines)
    const images = [...load('deploy/Dockerfile').matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version)
    expect(images).toHaveLength(3)
    for (const version of images) expect(isInRange(version, engines.node)).toBe(true)
  })

  it('is named in one line with the next step when it may not', async () => {
    const clone = mkdtempSync(join(tmpdir(), 'weir-clone-'))
    cpSync(embedded, join(clone, 'deploy/embedded'), { recursive: true })
    writeFileSync(join(clone, 'package.json'), JSON.stringify({ type: 'module', engines: { node: '>=99' } }))
    const { exitCode, stderr } = await execa(process.execPath, [join(clone, 'deploy/embedded/start.mjs')], {
      reject: false,
    })
    rmSync(clone, { recursive: true })
    expect(exitCode).toBe(1)
    expect(stderr.trim()).toMatch(/^Weir runs on Node 20 .*; this is \S+\. Install Node 24 \(nvm install 24, [^\n]*$/)
  })
})

it('does not build anew for what npm pack leaves beside the sources', async () => {
  const { isSource } = await import(join(embedded, 'setup/sources.mjs'))
  const left = ['dist/weir-upload.js', 'LICENSE', 'weir-upload-0.1.0.tgz'].map((name) => `clients/uploader/${name}`)
  expect(left.filter(isSource)).toEqual([])
  expect(
    ['clients/uploader/main.ts', 'clients/uploader/README.md', 'services/edge/main.ts'].filter(isSource),
  ).toHaveLength(3)
})
