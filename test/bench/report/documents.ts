import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'
import { capacityTables } from '../capacity/tables.js'
import type { Results } from '../results.js'
import { plotOf } from './svg.js'
import { headlineOf, problemsOf, tablesOf, toMarkdown } from './tables.js'

// docs/performance.md and docs/capacity.md have a stretch between two marks that a run of the bench writes. A test compares what
// stands there with docs/performance.json, so that nobody edits one without the other.

const begins = '<!-- written by npm run bench -->'
const ends = '<!-- until here -->'

/** The files that come from a run, by their path from the root. */
export const documentsOf = (results: Results, read: (path: string) => string): Map<string, string> =>
  new Map([
    ['docs/performance.json', `${JSON.stringify(results, null, 2)}\n`],
    ['docs/performance.svg', plotOf(results)],
    ['docs/performance.md', withSection(read('docs/performance.md'), performanceSection(results))],
    ['docs/capacity.md', withSection(read('docs/capacity.md'), capacitySection(results))],
  ])

export const readDocument = (path: string): string => readFileSync(join(packageRoot, path), 'utf8')

/** Writes them, and says which. */
export const writeDocuments = (results: Results): string[] => {
  const documents = documentsOf(results, readDocument)
  for (const [path, text] of documents) writeFileSync(join(packageRoot, path), text)
  return [...documents.keys()]
}

/** The page with other text between its two marks. */
export const withSection = (page: string, section: string): string => {
  const [from, to] = [page.indexOf(begins), page.indexOf(ends)]
  if (from < 0 || to < from) throw new Error(`the page has no stretch between "${begins}" and "${ends}"; put both back`)
  return `${page.slice(0, from + begins.length)}\n\n${section.trim()}\n\n${page.slice(to)}`
}

const performanceSection = (results: Results): string =>
  paragraphs([
    headlineOf(results),
    ...problemsOf(results).map((problem) => `**Note:** ${problem}`),
    '![CPU microseconds a record, by load and service](performance.svg)',
    ...tablesOf(results).map(toMarkdown),
  ])

const capacitySection = (results: Results): string =>
  paragraphs([
    `From the run of ${results.at.slice(0, 10)}, commit ${results.commit}.`,
    ...problemsOf(results).map((problem) => `**Note:** ${problem}`),
    ...capacityTables(results).map(toMarkdown),
  ])

const paragraphs = (pieces: readonly string[]): string => pieces.map((piece) => piece.trim()).join('\n\n')
