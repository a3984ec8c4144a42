import type { Engine } from '../engine.js'
import { refusal } from '../errors.js'
import { isWord, literal, type Token } from '../statement-split.js'

/**
 * The settings under which a statement reads one organisation's rows and no others: of each table a filter on org_id, also where a view reads
 * it. A table without org_id, or of another database, shows no row.
 */
export const ownRowsOnly = async (engine: Engine, org: string): Promise<[string, string][]> => {
  const { bytes } = await engine.run(tables, 'TabSeparatedRaw', { settings: new Map() })
  const found = Buffer.from(bytes).toString('utf8').split('\n').filter(Boolean)
  const filters = found.map((line) => {
    const [name = '', isOwn = '0'] = line.split('\t')
    return `${literal(name)}:${literal(isOwn === '1' ? `org_id = ${literal(org)}` : '0')}`
  })
  return [
    ['additional_table_filters', `{${filters.join(',')}}`],
    // What another analyst asked with the same words is another answer.
    ['use_query_cache', '0'],
  ]
}

const tables = `select concat(database, '.', name),
  database = 'weir' and (database, name) in (select database, table from system.columns where name = 'org_id')
from system.tables
where lower(database) not in ('system', 'information_schema') and engine not in ('View', 'MaterializedView')`

/** What would show other organisations' rows all the same, or what others ask. The statement is as the engine writes it down again. */
export const checkOwnRows = (tokens: readonly Token[], database: string | undefined): void => {
  if (isSystem(database ?? '')) throw notYours(`the database ${database}`)
  for (const [at, token] of tokens.entries()) {
    const name = nameOf(token)
    if (name === undefined) continue
    if (OWN_SETTINGS.has(name)) throw notYours(`the setting ${name}`)
    if (tokens[at + 1]?.text === '(' && PAST_FILTERS.has(name)) throw notYours(`${name}()`)
    if (name === 'processlist' && isWord(tokens[at - 1], 'SHOW')) throw notYours('SHOW PROCESSLIST')
    const table = tokens[at + 1]?.text === '.' ? nameOf(tokens[at + 2]) : undefined
    if (isSystem(name) && table !== undefined && !ABOUT_TABLES.has(table)) throw notYours(`system.${table}`)
    if (isSystem(name) && isWord(tokens[at - 1], 'USE')) throw notYours('the database system')
  }
}

const isSystem = (database: string): boolean => database.toLowerCase() === 'system'

const nameOf = (token: Token | undefined): string | undefined => {
  if (token?.kind === 'word') return token.text.toLowerCase()
  return token?.kind === 'quoted' && /^[`"]/.test(token.text) ? token.text.slice(1, -1).toLowerCase() : undefined
}

const OWN_SETTINGS = new Set(['additional_table_filters', 'use_query_cache', 'profile'])
const PAST_FILTERS = new Set([
  'merge',
  'mergetreeindex',
  'mergetreeprojection',
  'mergetreeanalyzeindexes',
  'loop',
  'dictget',
  'joinget',
])
// What tools look up; nothing in them is about rows.
const ABOUT_TABLES = new Set(
  'tables columns databases settings functions table_functions data_type_families formats one numbers numbers_mt build_options time_zones keywords completions'.split(
    ' ',
  ),
)

const notYours = (what: string) =>
  refusal(497, 'ACCESS_DENIED', `Not enough privileges: an analyst of one organisation cannot use ${what}`)
