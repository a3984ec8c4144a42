import { refusal } from './errors.js'

/** A statement that carries no data and goes to the engine as it is; `format` is the one that it names itself. */
type PlainStatement = { kind: 'plain'; sql: string; format: string | undefined; answersRows: boolean }

/** An INSERT whose data starts at `dataStart`; `readingFrom` is the same INSERT with its data in a file. */
export type InsertStatement = {
  kind: 'insert'
  dataStart: number
  readingFrom: (path: string, compression: string) => string
}

/** Finds where a statement ends and its data begins. The text is latin1: a character for each byte, also of binary data. */
export const splitStatement = (text: string): PlainStatement | InsertStatement => {
  const tokens = tokensOf(text)
  const first = tokens.next().value
  return isWord(first ?? undefined, 'INSERT') ? splitInsert(text, tokens) : plain(text)
}

const splitInsert = (text: string, tokens: Generator<Token>): PlainStatement | InsertStatement => {
  const next = () => tokens.next().value ?? undefined
  let token = afterTarget(next)
  let sourceAt: number | undefined
  for (; token !== undefined; token = next()) {
    if (token.depth > 0) continue
    if (isWord(token, 'FROM')) throw refusal(78, 'UNKNOWN_TYPE_OF_QUERY', 'FROM INFILE is not allowed over HTTP')
    if (isWord(token, 'SELECT') || isWord(token, 'WITH')) return splitInsertSelect(text)
    if (isWord(token, 'SETTINGS')) sourceAt ??= token.start
    if (isWord(token, 'VALUES')) return fromFile(text, sourceAt ?? token.start, token.start, 'Values', token.end)
    if (isWord(token, 'FORMAT')) {
      const format = next()
      if (format === undefined) break
      const tail = isWord(format, 'VALUES') ? format.end : dataAfterFormat(text, format.end)
      return fromFile(text, sourceAt ?? token.start, token.start, format.text, tail)
    }
  }
  return splitInsertSelect(text)
}

/** The token after INSERT [INTO] [TABLE] [FUNCTION] name[.name]; the name is not looked at, since it may be a keyword too. */
const afterTarget = (next: () => Token | undefined): Token | undefined => {
  let token = next()
  for (const word of ['INTO', 'TABLE', 'FUNCTION']) if (isWord(token, word)) token = next()
  token = next()
  while (token?.text === '.') {
    next()
    token = next()
  }
  return token
}

/** Puts FROM INFILE where the engine takes it: before SETTINGS, which in turn stands before FORMAT. */
const fromFile = (text: string, sourceAt: number, formatAt: number, format: string, end: number): InsertStatement => ({
  kind: 'insert',
  dataStart: end,
  readingFrom: (path, compression) =>
    utf8(
      `${text.slice(0, sourceAt)} FROM INFILE ${pathLiteral(path)} COMPRESSION ${literal(compression)} ` +
        `${text.slice(sourceAt, formatAt)} FORMAT ${format}`,
    ),
})

const INPUT = '`the data of this request`'

/** INSERT … SELECT … FROM input('…') FORMAT X: a table with the request's data takes the place of input(). */
const splitInsertSelect = (text: string): PlainStatement | InsertStatement => {
  let before: Token | undefined
  let input: { start: number; open: Token; close?: Token } | undefined
  for (const token of tokensOf(text)) {
    if (input === undefined && isWord(before, 'INPUT') && token.text === '(' && before !== undefined)
      input = { start: before.start, open: token }
    else if (input !== undefined && input.close === undefined && token.text === ')' && token.depth === input.open.depth)
      input.close = token
    if (input?.close !== undefined && isWord(before, 'FORMAT') && before?.depth === 0) {
      const { start, open, close } = input
      const formatAt = before.start
      return {
        kind: 'insert',
        dataStart: dataAfterFormat(text, token.end),
        readingFrom: (path, compression) =>
          utf8(
            `CREATE TEMPORARY TABLE ${INPUT} ENGINE = Memory EMPTY AS SELECT * FROM null(${text.slice(open.end, close.start)}); ` +
              `INSERT INTO ${INPUT} FROM INFILE ${pathLiteral(path)} COMPRESSION ${literal(compression)} FORMAT ${token.text}; ` +
              `${text.slice(0, start)}${INPUT}${text.slice(close.end, formatAt)}`,
          ),
      }
    }
    before = token
  }
  return plain(text)
}

/** Data starts after the line break behind the format's name, or after the blanks when no line break follows. */
const dataAfterFormat = (text: string, end: number): number => {
  const blanks = /[ \t\f]*\r?\n?/y
  blanks.lastIndex = end
  return end + (blanks.exec(text)?.[0].length ?? 0)
}

const plain = (text: string): PlainStatement => {
  const tokens = [...tokensOf(text)]
  const end = tokens.findIndex((token) => token.text === ';')
  const own = end < 0 ? tokens : tokens.slice(0, end)
  if (tokens.slice(own.length).some((token) => token.text !== ';'))
    throw refusal(62, 'SYNTAX_ERROR', 'Syntax error (Multi-statements are not allowed)')
  const has = (...words: string[]) =>
    own.some((_, at) => words.every((word, step) => isWord(own[at + step], word) && own[at]?.depth === 0))
  if (has('INTO', 'OUTFILE')) throw refusal(358, 'INTO_OUTFILE_NOT_ALLOWED', 'INTO OUTFILE is not allowed')
  if (has('CREATE', 'TEMPORARY', 'TABLE') || has('CREATE', 'OR', 'REPLACE', 'TEMPORARY', 'TABLE'))
    throw refusal(113, 'THERE_IS_NO_SESSION', 'There is no session: temporary tables are not supported here')
  const formatAt = own.findLastIndex((token) => isWord(token, 'FORMAT') && token.depth === 0)
  return {
    kind: 'plain',
    sql: utf8(sqlOf(text, own)),
    format: formatAt < 0 ? undefined : own[formatAt + 1]?.text,
    answersRows: ROW_WORDS.has(own.find((token) => token.text !== '(')?.text.toUpperCase() ?? ''),
  }
}

/** KILL … SYNC would never end: chdb closes the connection that it waits for only once no statement runs, the KILL included. */
const sqlOf = (text: string, tokens: Token[]): string => {
  const last = tokens.at(-1)
  return isWord(tokens[0], 'KILL') && last !== undefined && isWord(last, 'SYNC')
    ? `${text.slice(0, last.start)}ASYNC`
    : text.slice(0, last?.end ?? 0)
}

const ROW_WORDS = new Set('SELECT WITH SHOW DESCRIBE DESC EXPLAIN EXISTS CHECK KILL FROM'.split(' '))

const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString('utf8')

/** A file's name as a literal within latin1 text, whose bytes are read as UTF-8 in the end. */
const pathLiteral = (path: string): string => literal(Buffer.from(path, 'utf8').toString('latin1'))

/** A text as a literal of ClickHouse's SQL. */
export const literal = (value: string): string => `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

/** A name as an identifier of ClickHouse's SQL. */
export const identifier = (name: string): string =>
  /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replace(/[\\`]/g, '\\$&')}\``

/** One significant piece of a statement; `depth` counts the brackets around it. */
export type Token = { kind: 'word' | 'quoted' | 'other'; text: string; start: number; end: number; depth: number }

/** Reads ClickHouse SQL without space and comments; lazily, because binary data may follow an INSERT. */
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
