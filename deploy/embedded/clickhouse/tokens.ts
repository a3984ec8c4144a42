/** One significant piece of a statement; `depth` counts the brackets around it. */
export type Token = {
  kind: 'word' | 'quoted' | 'other'
  text: string
  start: number
  end: number
  depth: number
}

/**
 * Reads ClickHouse SQL piece by piece, leaving out space and comments.
 * Lazy on purpose: binary data may follow an INSERT, and only what is asked for is looked at.
 */
export function* tokensOf(sql: string): Generator<Token> {
  let at = 0
  let depth = 0
  while (at < sql.length) {
    const skipped = matchAt(TRIVIA, sql, at)
    if (skipped !== undefined) {
      at += skipped.length
      continue
    }
    const heredoc = matchAt(HEREDOC, sql, at)
    const quoted = heredoc ?? matchAt(QUOTED, sql, at)
    const word = quoted === undefined ? matchAt(WORD, sql, at) : undefined
    const text = quoted ?? word ?? sql.charAt(at)
    if (CLOSING.has(text)) depth--
    const kind = quoted !== undefined ? 'quoted' : word !== undefined ? 'word' : 'other'
    yield { kind, text, start: at, end: at + text.length, depth }
    if (OPENING.has(text)) depth++
    at += text.length
  }
}

export const isWord = (token: Token | undefined, word: string): boolean =>
  token?.kind === 'word' && token.text.toUpperCase() === word

const TRIVIA = /\s+|--[^\n]*|#[ !][^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y
const HEREDOC = /(\$\w*\$)[\s\S]*?\1/y
const QUOTED = /'(?:[^'\\]|\\[\s\S]|'')*(?:'|$)|"(?:[^"\\]|\\[\s\S]|"")*(?:"|$)|`(?:[^`\\]|\\[\s\S]|``)*(?:`|$)/y
// Text arrives as latin1, a character for each byte: everything above ASCII belongs to a word.
const WORD = /[\w$\u0080-\u{10ffff}]+/uy
const OPENING = new Set(['(', '[', '{'])
const CLOSING = new Set([')', ']', '}'])

const matchAt = (pattern: RegExp, sql: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(sql)?.[0]
}
