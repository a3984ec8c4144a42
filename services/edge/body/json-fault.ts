/** Where a text stops being JSON, quoting nothing of it. `isAnotherFormat`: it is rather CSV, a form or lines of JSON. */
export const describeFault = (
  text: string,
  { at, wanted }: Fault = findFault(text),
): { message: string; isAnotherFormat: boolean } => {
  const { line, column } = placeOf(text, at)
  return {
    message: `${wanted} was expected at line ${line}, column ${column} (position ${at}), where ${foundAt(text, at)}`,
    // Bounded: to look past 16 MiB of blanks took 20 ms.
    isAnotherFormat: !/^\s{0,1000}[[{]/.test(text) || wanted === words.end,
  }
}

/** The same for a text that is one line of a body. */
export const describeFaultInLine = (text: string): string => {
  const { at, wanted } = findFault(text)
  return `${wanted} was expected at column ${at + 1}, where ${foundAt(text, at)}`
}

const foundAt = (text: string, at: number): string => (at >= text.length ? 'it ends' : 'there is something else')

/** The line and column of a position, both from 1. Counted in a loop: an array of 16 million lines took 400 ms. */
export const placeOf = (text: string, at: number): { line: number; column: number } => {
  let line = 1
  let lineStart = 0
  for (let i = 0; i < at; i++) {
    if (text.charCodeAt(i) !== newline) continue
    line++
    lineStart = i + 1
  }
  return { line, column: at - lineStart + 1 }
}

const newline = 0x0a

type Fault = { at: number; wanted: string }
/** What may come next. `first value` and `first name`: the array or the object may also end here. */
type Wanted = 'value' | 'first value' | 'name' | 'first name' | 'colon' | 'comma' | 'end'

const words: Readonly<Record<Wanted, string>> = {
  value: 'a value',
  'first value': 'a value or ]',
  name: 'a quoted name',
  'first name': 'a quoted name or }',
  colon: 'a colon',
  comma: 'a comma or the closing bracket',
  end: 'the end',
}

// By hand and without recursion: the text is not valid JSON, and may be as deep and as long as a body can be.
export const findFault = (text: string): Fault => {
  const open: string[] = []
  let wanted: Wanted = 'value'
  let at = 0
  const closed = (): Wanted => (open.length === 0 ? 'end' : 'comma')

  for (;;) {
    space.lastIndex = at
    space.test(text)
    at = space.lastIndex
    const char = text.charAt(at)
    const fault = { at, wanted: words[wanted] }
    if (char === '') return fault
    if ((char === '}' || char === ']') && mayClose(wanted, char, open.at(-1))) {
      open.pop()
      wanted = closed()
      at++
    } else if (wanted === 'colon' || wanted === 'comma' || wanted === 'end') {
      if (char !== { colon: ':', comma: ',', end: '' }[wanted]) return fault
      wanted = wanted === 'comma' && open.at(-1) === '{' ? 'name' : 'value'
      at++
    } else if (wanted === 'name' || wanted === 'first name') {
      if (char !== '"') return fault
      const end = endOfString(text, at)
      if (typeof end !== 'number') return end
      wanted = 'colon'
      at = end
    } else if (char === '{' || char === '[') {
      open.push(char)
      wanted = char === '{' ? 'first name' : 'first value'
      at++
    } else {
      const end = char === '"' ? endOfString(text, at) : endOfLiteral(text, at, fault)
      if (typeof end !== 'number') return end
      wanted = closed()
      at = end
    }
  }
}

const mayClose = (wanted: Wanted, char: string, opened: string | undefined): boolean =>
  char === '}'
    ? opened === '{' && (wanted === 'first name' || wanted === 'comma')
    : opened === '[' && (wanted === 'first value' || wanted === 'comma')

const space = /[ \t\n\r]*/y

const quote = 0x22
const backslash = 0x5c
const firstPlain = 0x20
const letterU = 0x75
const mayFollowBackslash = new Uint8Array(128)
for (const char of '"\\/bfnrt') mayFollowBackslash[char.charCodeAt(0)] = 1

// By character codes: with a regular expression for each of 8 million escapes it took 170 ms.
const endOfString = (text: string, start: number): number | Fault => {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at + 1
    if (code < firstPlain) return { at, wanted: 'an escape sequence instead of a control character' }
    if (code !== backslash) continue
    const next = text.charCodeAt(at + 1)
    if (mayFollowBackslash[next] === 1) at += 1
    else if (next === letterU && isHex(text, at + 2, 4)) at += 5
    else return { at, wanted: 'a known escape sequence' }
  }
  return { at: text.length, wanted: 'a closing quote' }
}

const isHex = (text: string, from: number, digits: number): boolean => {
  for (let at = from; at < from + digits; at++) {
    const code = text.charCodeAt(at)
    const isDigit = code >= 0x30 && code <= 0x39
    const isLetter = (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66)
    if (!isDigit && !isLetter) return false
  }
  return true
}

const literal = /[^\s,:[\]{}"]*/y
const known = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

const endOfLiteral = (text: string, start: number, fault: Fault): number | Fault => {
  literal.lastIndex = start
  const word = literal.exec(text)?.[0] ?? ''
  return known.test(word) ? start + word.length : fault
}
