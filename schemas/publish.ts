// Writes the derived files into schemas/published/. With --check it writes nothing and fails where one is stale.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogue } from './catalogue.js'
import { publishedFiles } from './derive/published.js'

const folder = join(import.meta.dirname, 'published')
mkdirSync(folder, { recursive: true })

const wanted = publishedFiles(catalogue)
const present = new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]))
const stale = [...wanted].filter(([name, text]) => present.get(name) !== text).map(([name]) => name)
const extra = [...present.keys()].filter((name) => !wanted.has(name))

if (process.argv.includes('--check')) {
  if (stale.length + extra.length > 0) {
    console.error(`stale in schemas/published: ${[...stale, ...extra].join(', ')}; run: npm run publish-schemas`)
    process.exitCode = 1
  } else console.log(`schemas/published is up to date (${wanted.size} files)`)
} else {
  for (const name of stale) writeFileSync(join(folder, name), wanted.get(name) ?? '')
  for (const name of extra) rmSync(join(folder, name))
  console.log(`${stale.length} files written, ${extra.length} removed, ${wanted.size} in all`)
}
