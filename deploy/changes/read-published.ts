import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'
import { catalogue } from '#schemas/catalogue.js'
import { clientFiles, publishedFiles } from '#schemas/derive/published.js'
import type { PublishedFiles } from './change.js'
import { sdkFiles } from './sdk.js'

const folder = 'schemas/published'

/** What the catalogue of this clone derives, whether or not it was written to its files. */
export const publishedHere = (): PublishedFiles =>
  new Map([
    ...[...publishedFiles(catalogue)].map(([name, text]): [string, string] => [`${folder}/${name}`, text]),
    ...[...clientFiles(catalogue)].filter(([path]) => sdkFiles.includes(path)),
  ])

/** Of a folder that holds another state of the repository, else of a tag or a commit; undefined where there is none. */
export const publishedAt = (against: string): PublishedFiles | undefined =>
  existsSync(join(against, folder)) ? publishedInFolder(against) : publishedInGit(against)

const publishedInFolder = (root: string): PublishedFiles => {
  const paths = [...readdirSync(join(root, folder)).map((name) => `${folder}/${name}`), ...sdkFiles]
  const there = paths.filter((path) => existsSync(join(root, path)))
  return new Map(there.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

const publishedInGit = (revision: string): PublishedFiles | undefined => {
  const git = (...words: string[]) =>
    execFileSync('git', words, {
      cwd: packageRoot,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  const list = () => git('ls-tree', '-r', '--name-only', '--end-of-options', revision, '--', folder, ...sdkFiles)
  try {
    const paths = list()
      .split('\n')
      .filter((path) => path !== '')
    if (paths.length > 0)
      return new Map(paths.map((path) => [path, git('show', '--end-of-options', `${revision}:${path}`)]))
  } catch {
    // Git does not know it.
  }
  return undefined
}
