import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { vendoredFiles } from '../../deploy/vendor-console.js'
import { serveSources } from './pretend/serve-sources.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

it.each([...vendoredFiles()])(
  '%s is what the package has; to write it anew: npx tsx deploy/vendor-console.ts',
  (file, text) => {
    expect(readFileSync(join(root, file), 'utf8') === text).toBe(true)
  },
)

it('is less than 120 kB gzipped, with all of its pages and the SDK', () => {
  // As the edge zips it.
  const sizes = servedPaths().map((path) => gzipSync(serveSources(path)?.body ?? '', { level: 9 }).length)
  const sum = sizes.reduce((total, size) => total + size, 0)
  expect(sum).toBeGreaterThan(50_000)
  expect(sum).toBeLessThan(120_000)
})

it('imports only what is served: relative paths of files that exist', () => {
  const wrong = servedPaths()
    .filter((path) => path.endsWith('.js'))
    .flatMap((path) =>
      [...(serveSources(path)?.body ?? '').matchAll(/(?:from|import|new URL\()\s*["']([^"']+)["']/g)]
        .map(([, name = '']) => (name.startsWith('.') ? new URL(name, `http://edge${path}`).pathname : name))
        .filter((target) => !serveSources(target))
        .map((target) => `${path} imports ${target}`),
    )
  expect(wrong).toEqual([])
})

it('has no style and no script within the page, which its content security policy would not run', () => {
  const page = serveSources('/console/')?.body ?? ''
  expect(page).toContain('<script type="module" src=')
  expect(page).not.toMatch(/<style|style=|<script(?![^>]*src=)|\son\w+=/)
})

/** The address of each file of the page. */
function servedPaths(): string[] {
  const below = (folder: string): string[] =>
    readdirSync(join(root, 'clients', folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/\.d\.ts$|\.json$|\.md$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name).slice(join(root, 'clients').length))
  const files = [...below('console'), ...below('typescript/src')]
  return files.map((file) => `/console/files${file.replace(/\.ts$/, '.js')}`)
}
