import { checkOwnRows } from './analysts/own-rows.js'
import type { Engine } from './engine.js'
import { ClickHouseError, refusal } from './errors.js'
import type { QueryRequest } from './request.js'
import { isWord, literal, type Token, tokensOf } from './statement-split.js'

/**
 * Refuses what the engine would allow an analyst: `readonly` and the grants in access.xml stop neither file() nor INTO
 * OUTFILE. The statement is looked at as the engine writes it down again (formatQuery), so that nothing can hide.
 */
export const checkReading = async (
  engine: Engine,
  sql: string,
  { settings, user, database }: Pick<QueryRequest, 'settings' | 'user' | 'database'>,
): Promise<void> => {
  const tokens = [...tokensOf(await rewritten(engine, sql))]
  if (!FIRST_WORDS.has(tokens[0]?.text.toUpperCase() ?? '')) throw readsOnly()
  if (settings.has(filters) || tokens.some((token) => nameOf(token)?.toLowerCase() === filters)) throw holdsSql()
  if (user.org !== undefined) checkOwnRows(tokens, database)
  for (const [at, token] of tokens.entries()) {
    if (isWord(token, 'OUTFILE') && isWord(tokens[at - 1], 'INTO'))
      throw refusal(358, 'INTO_OUTFILE_NOT_ALLOWED', 'INTO OUTFILE is not allowed')
    const name = nameOf(token)
    // Also without a bracket behind it: arrayMap(file, …) calls it, too.
    if (name === 'file') throw denied('file')
    if (name !== undefined && tokens[at + 1]?.text === '(' && !mayCall(name.toLowerCase(), tokens[at + 2], engine))
      throw denied(name)
    if (isWord(token, 'IDENTIFIER') && tokens[at - 1]?.text === ':')
      checkIdentifier(settings.get(`param_${tokens[at - 2]?.text}`))
  }
}

export const readsOnly = () =>
  refusal(164, 'READONLY', 'default: Cannot execute query in readonly mode: this user only reads')

// The value of this setting is SQL, which would not be looked at.
const filters = 'additional_table_filters'
const holdsSql = () => refusal(452, 'SETTING_CONSTRAINT_VIOLATION', `Setting ${filters} should not be changed`)

const denied = (name: string) => {
  const problem = `default: Not enough privileges: this user reads tables and views, and cannot use ${name}()`
  return refusal(497, 'ACCESS_DENIED', problem)
}

const FIRST_WORDS = new Set('SELECT WITH FROM ( SHOW DESCRIBE DESC EXPLAIN EXISTS CHECK USE SET'.split(' '))

// The others read files and addresses, or take column descriptions as text, in which a call of file() could hide.
const TABLE_FUNCTIONS = new Set(
  'numbers numbers_mt zeros zeros_mt generateseries generate_series primes view merge mergetreeindex loop'.split(' '),
)

/** Any function but some table functions. format() is both; the pattern of the harmless one has braces, a format's name has none. */
const mayCall = (name: string, argument: Token | undefined, engine: Engine): boolean => {
  if (name === 'format') return argument?.text.startsWith("'") === true && argument.text.includes('{')
  return TABLE_FUNCTIONS.has(name) || !engine.tableFunctions.has(name)
}

/** What a word or a quoted identifier names; a text in single quotes names nothing. */
const nameOf = ({ kind, text }: Token): string | undefined => {
  if (kind === 'word') return text
  return kind === 'quoted' && /^[`"]/.test(text) ? text.slice(1, -1) : undefined
}

/** A parameter {name:Identifier} stands for a name in the statement; with escapes it could be any name. */
const checkIdentifier = (value = ''): void => {
  if (!/^[\w.-]*$/.test(value) || value === 'file') throw denied(value)
}

const rewritten = async (engine: Engine, sql: string): Promise<string> => {
  try {
    const settings = new Map([['max_query_size', '0']])
    const { bytes } = await engine.run(`SELECT formatQuerySingleLine(${literal(sql)})`, 'TabSeparatedRaw', { settings })
    return Buffer.from(bytes).toString('utf8')
  } catch (error) {
    if (!(error instanceof ClickHouseError)) throw error
    const [message = ''] = error.message.split(/\.? ?: In scope SELECT formatQuerySingleLine\(/)
    throw refusal(error.code, error.type, message)
  }
}
