/** Where a text stops being JSON, in words that quote nothing of it. */
export const describeFault = (text: string): string => {
  const { at, wanted } = findFault(text)
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - before.lastIndexOf('\n')
  const end = at >= text.length ? 'it ends' : 'there is something else'
  return `${wanted} was expected at line ${line}, column ${column} (position ${at}), where ${end}`
}

/** Whether a text is rather CSV, a form or lines of JSON than JSON with a mistake in it. */
export const isAnotherFormat = (text: string): boolean => !/^\s*[[{]/.test(text) || findFault(text).wanted === words.end

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
    while (' \t\n\r'.includes(text.charAt(at) || '?')) at++
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

const escapes = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y

const endOfString = (text: string, start: number): number | Fault => {
  for (let at = start + 1; at < text.length; at++) {
    const char = text.charAt(at)
    if (char === '"') return at + 1
    if (char < ' ') return { at, wanted: 'an escape sequence instead of a control character' }
    if (char !== '\\') continue
    escapes.lastIndex = at
    if (!escapes.test(text)) return { at, wanted: 'a known escape sequence' }
    at = escapes.lastIndex - 1
  }
  return { at: text.length, wanted: 'a closing quote' }
}

const literal = /[^\s,:[\]{}"]*/y
const known = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/

const endOfLiteral = (text: string, start: number, fault: Fault): number | Fault => {
  literal.lastIndex = start
  const word = literal.exec(text)?.[0] ?? ''
  return known.test(word) ? start + word.length : fault
}
