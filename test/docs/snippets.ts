import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'

const pagesIn = (folder: string, options = {}): string[] =>
  readdirSync(join(packageRoot, folder), { encoding: 'utf8', ...options })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name))
    .sort()

/** The pages that a reader follows, in the order in which they are read. */
export const pages = [...new Set(['README.md', ...pagesIn('.'), ...pagesIn('docs', { recursive: true })])]

/** Something on a page that a reader can paste. */
export type Snippet = {
  page: string
  /** The first line of its text on the page, from 1. */
  line: number
  language: string
  text: string
  /** What the page says that it prints; `…` stands for anything. */
  prints?: string
}

/** The words after the three backticks, and what they mean here. A block without a word is a picture. */
export const languages: Record<string, 'is run' | 'is what the snippet above it prints'> = {
  sh: 'is run',
  python: 'is run',
  sql: 'is run',
  text: 'is what the snippet above it prints',
}

export const snippetsOf = (page: string, markdown = readFileSync(join(packageRoot, page), 'utf8')): Snippet[] => {
  const snippets: Snippet[] = []
  for (const { line, language, text } of blocksOf(markdown)) {
    const above = snippets.at(-1)
    if (languages[language] === 'is run') snippets.push({ page, line, language, text })
    else if (language === 'text' && above) above.prints = (above.prints ?? '') + text
  }
  return snippets
}

/** Every fenced block of a page. */
export const blocksOf = (markdown: string): { line: number; language: string; text: string }[] =>
  [...markdown.matchAll(/^```([^\n]*)\n(.*?)^```$/gms)].map(({ index, 1: language = '', 2: text = '' }) => ({
    line: markdown.slice(0, index).split('\n').length + 1,
    language,
    text,
  }))

/** Whether all that a page shows between its `…` was printed, in that order. How lines are broken does not count. */
export const showsIn = (prints: string, output: string): boolean => {
  const printed = inOneLine(output)
  let from = 0
  for (const piece of inOneLine(prints).split('…')) {
    const at = printed.indexOf(piece.trim(), from)
    if (at < 0) return false
    from = at + piece.trim().length
  }
  return true
}

const inOneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/**
 * What a command printed that tells of an error, although the command itself ended well, as curl does whatever is answered.
 * What the page shows is no surprise to its reader.
 */
export const errorsIn = (output: string, prints = ''): string[] =>
  [...output.matchAll(/"error": ?"[^"]*"|DB::Exception|Traceback|\b[A-Za-z]*Error\b: .*|command not found/g)]
    .map(([error]) => error)
    .filter((error) => !inOneLine(prints).includes(inOneLine(error)))
