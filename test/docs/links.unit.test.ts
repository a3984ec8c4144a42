import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pages } from './snippets.js'

// What the documents point at is there: files and folders that they link to or name, and headings that they link to.

const root = join(import.meta.dirname, '../..')
const documents = [
  ...pages,
  'clients/python/README.md',
  'clients/typescript/README.md',
  'clients/uploader/README.md',
  'clients/conformance/README.md',
  'clients/dbt/README.md',
]

/** Without fenced blocks, which show commands and output. */
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8').replace(/^```.*?^```$/gms, '')

const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target).filter((target) => !/^[a-z]+:/.test(target))

/** Paths of the repository in backticks. A glob or a `<placeholder>` names no file; `{one,other}` names two. */
const pathsIn = (text: string): string[] =>
  [...text.matchAll(/`((?:services|schemas|deploy|docs|test|clients)\/[^`\s]*)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => !/[*<]/.test(path))
    .flatMap(alternativesOf)

const alternativesOf = (path: string): string[] => {
  const [all = '', inside = ''] = /\{([^}]*)\}/.exec(path) ?? []
  return all === '' ? [path] : inside.split(',').flatMap((one) => alternativesOf(path.replace(all, one)))
}

/** Headings as GitHub names them in addresses. */
const anchorsIn = (file: string): string[] =>
  [...textOf(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )

const isThere = (from: string, link: string): boolean => {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? from : join(dirname(from), path)
  return existsSync(join(root, target)) && (anchor === undefined || anchorsIn(target).includes(anchor))
}

describe.each(documents)('%s', (file) => {
  const text = textOf(file)

  it('links to what is there', () => {
    expect(linksIn(text).filter((link) => !isThere(file, link))).toEqual([])
  })

  it('names paths that are there', () => {
    expect(pathsIn(text).filter((path) => !existsSync(join(root, path)))).toEqual([])
  })
})

it('finds what it looks for', () => {
  const text =
    'a [page](docs/x.md#here), [elsewhere](https://a.b), `services/{edge,sink}/main.ts`, `test/*.ts`, `docs/<x>`'
  expect(linksIn(text)).toEqual(['docs/x.md#here'])
  expect(pathsIn(text)).toEqual(['services/edge/main.ts', 'services/sink/main.ts'])
  expect(isThere('README.md', 'docs/runbook.md#when-something-is-away')).toBe(true)
  expect(isThere('README.md', 'docs/runbook.md#when-nothing-is-away')).toBe(false)
  expect(isThere('docs/operations.md', '../README.md')).toBe(true)
})
