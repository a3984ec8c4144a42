import { nearest } from '../../derive/nearest-name.js'
import { customersOverview } from '../customers.js'
import type { MartColumn } from '../mart.js'
import { customerSegments } from './named.js'

// The condition of an organisation's own segment: an expression of SQL about one customer. It is put into queries that Weir itself runs,
// so only the words and signs that are named here may stand in it: none of them reads a table, or another organisation's rows.

const { org_id: _, ...ofCustomer } = { ...customerSegments.columns, ...customersOverview.columns }

/** What a condition can speak of: the columns of customers_overview and of customer_segments. */
export const conditionColumns: Readonly<Record<string, MartColumn>> = ofCustomer

const keywords = new Set(
  'and or not between like ilike is null true false interval day week month year'.split(' ').concat('in'),
)

export const conditionFunctions: readonly string[] = [
  ...['has', 'hasAny', 'hasAll', 'length', 'empty', 'notEmpty', 'lower', 'upper', 'startsWith', 'endsWith'],
  ...['coalesce', 'ifNull', 'abs', 'round', 'floor', 'least', 'greatest'],
  ...['today', 'now', 'toDate', 'dateDiff', 'toYear', 'toMonth', 'toUUID'],
]

export const longestCondition = 2000

type Read = { condition: string } | { problem: string }

/** The condition with one space between its words, so that no two signs become another one; or what is wrong with it. */
export const readCondition = (text: string): Read => {
  if (text.length > longestCondition) return { problem: `a condition has ${longestCondition} characters at the most` }
  const words = wordsOf(text)
  if ('problem' in words) return words
  const problem = words.map((word, i) => problemOf(word, i, words)).find((each) => each !== undefined)
  if (problem !== undefined) return { problem }
  return words.length > 0
    ? balanced(words)
    : { problem: "a condition is missing, such as amount > 100 and region = 'GB'" }
}

// No comments.
const sign = /<=|>=|!=|<>|-(?!-)|\/(?!\*)|[=<>+*(),[\]]/y
const number = /\d+(?:\.\d+)?(?![\w.])/y
// Without backslashes: what one does in a text depends on the reader.
const quoted = /'(?:[^'\\]|'')*'/y
const name = /[a-zA-Z_]\w*/y

const wordsOf = (text: string): string[] | { problem: string } => {
  const words: string[] = []
  for (let at = 0; at < text.length; ) {
    const space = /\s+/y
    space.lastIndex = at
    if (space.test(text)) {
      at = space.lastIndex
      continue
    }
    const found = [quoted, number, name, sign].flatMap((kind) => {
      kind.lastIndex = at
      return kind.exec(text) ?? []
    })[0]
    if (found === undefined)
      return { problem: `a condition cannot have ${JSON.stringify(text.slice(at, at + 10))} in it, at ${at + 1}` }
    words.push(found)
    at += found.length
  }
  return words
}

const isLiteral = (word: string | undefined): boolean => /^['\d]/.test(word ?? '')

const problemOf = (word: string, i: number, words: readonly string[]): string | undefined => {
  if (!/^[a-zA-Z_]/.test(word)) return undefined
  const isCalled = words[i + 1] === '('
  if (word.toLowerCase() === 'in') return isList(words.slice(i + 1)) ? undefined : inTakesValues
  if (keywords.has(word.toLowerCase())) return undefined
  if (Object.hasOwn(conditionColumns, word) && !isCalled) return undefined
  if (conditionFunctions.includes(word) && isCalled) return undefined
  const known = [...Object.keys(conditionColumns), ...conditionFunctions]
  const close = nearest(word, known)
  return `a condition cannot have ${word} in it${close && close !== word ? `; did you mean ${close}?` : ''}`
}

const inTakesValues = "in takes values in brackets, such as region in ('GB', 'IE')"

/** Values only: ClickHouse takes a single name behind `in` for a table. */
const isList = (words: readonly string[]): boolean => {
  if (words[0] !== '(') return false
  const inside = words.slice(1, words.indexOf(')'))
  return inside.length % 2 === 1 && inside.every((word, i) => (i % 2 === 0 ? isLiteral(word) : word === ','))
}

/** No bracket ends what was begun outside of the condition. */
const balanced = (words: readonly string[]): Read => {
  const open: string[] = []
  const closes: Readonly<Record<string, string>> = { ')': '(', ']': '[' }
  for (const word of words) {
    if (word === '(' || word === '[') open.push(word)
    if (closes[word] !== undefined && open.pop() !== closes[word]) return { problem: `a ${word} has no beginning` }
  }
  return open.length > 0 ? { problem: `a ${open.at(-1)} has no end` } : { condition: words.join(' ') }
}
