import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

// clients/conformance/README.md says what these mean.

export type Exchange = {
  request: { method: string; path: string; headers?: Record<string, string | null>; body?: unknown }
  waited?: { from: number; to: number }
  answer: 'none' | Answer
}
/** `lines` is what is answered line by line, instead of a body. */
type Answer = { status: number; headers?: Record<string, string>; body?: unknown; lines?: unknown[] }
export type ConformanceCall = {
  do: string
  key?: string
  exchanges: Exchange[]
  returns?: unknown
  fails?: Record<string, unknown>
  [argument: string]: unknown
}
export type ConformanceCase = { name: string; real?: boolean; calls: ConformanceCall[] }

const folder = new URL('../../../clients/conformance/', import.meta.url)

export const conformanceCases: ConformanceCase[] = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .flatMap((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as ConformanceCase[])

/** What the names in a case stand for: `{new:…}` is a UUID of the test's own, `{any:…}` the first text that stands there. */
export const createNames = () => {
  const known = new Map<string, string>()

  const fillText = (text: string): string =>
    text.replaceAll(/\{(new|any):(\w+)\}/g, (whole) => {
      if (whole.startsWith('{new:') && !known.has(whole)) known.set(whole, randomUUID())
      return known.get(whole) ?? whole
    })

  const fill = <T>(value: T): T => {
    if (typeof value === 'string') return fillText(value) as T
    if (Array.isArray(value)) return value.map(fill) as T
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, fill(each)])) as T
  }

  /** Where a value differs from its pattern. What the pattern does not name may be there, unless it has to be exact. */
  const differences = (pattern: unknown, value: unknown, at: string, isExact: boolean): string[] => {
    if (typeof pattern === 'string') {
      const wanted = fillText(pattern)
      const given = typeof value === 'number' ? String(value) : value
      if (/^\{any:\w+\}$/.test(wanted) && typeof given === 'string') {
        known.set(wanted, given)
        return []
      }
      return wanted === given ? [] : [`${at} is ${JSON.stringify(value)} instead of ${JSON.stringify(wanted)}`]
    }
    if (typeof pattern !== 'object' || pattern === null || typeof value !== 'object' || value === null)
      return pattern === value ? [] : [`${at} is ${JSON.stringify(value)} instead of ${JSON.stringify(pattern)}`]
    const names = Object.keys(pattern)
    const isWhole = isExact || Array.isArray(pattern)
    const extra = isWhole ? Object.keys(value).filter((name) => !names.includes(name)) : []
    return [
      ...extra.map((name) => `${at}.${name} is there, and should not be`),
      ...names.flatMap((name) =>
        differences(
          (pattern as Record<string, unknown>)[name],
          (value as Record<string, unknown>)[name],
          `${at}.${name}`,
          isExact,
        ),
      ),
    ]
  }

  /** What stands for names that nothing has been found for yet. */
  const inventIn = (value: unknown): void => {
    for (const [whole] of (JSON.stringify(value) ?? '').matchAll(/\{any:\w+\}/g))
      if (!known.has(whole)) known.set(whole, randomUUID())
  }

  return { fill, differences, inventIn }
}

export type Names = ReturnType<typeof createNames>

/** Where a request that a client made differs from the one that it has to make. */
export const requestDifferences = (
  names: Names,
  wanted: Exchange['request'],
  url: string,
  init: RequestInit,
): string[] => {
  const headers = new Headers(init.headers)
  const { pathname, search } = new URL(url)
  const contentType = wanted.headers?.['content-type'] ?? 'application/json'
  const isJson = contentType === 'application/json'
  const body = typeof init.body === 'string' && isJson ? JSON.parse(init.body) : init.body
  return [
    ...names.differences(wanted.method, init.method, 'method', true),
    ...names.differences(wanted.path, pathname + search, 'path', true),
    ...Object.entries(wanted.headers ?? {}).flatMap(([name, text]) =>
      names.differences(text, headers.get(name), name, true),
    ),
    ...(wanted.body === undefined ? [] : names.differences(wanted.body, body, 'body', true)),
    ...(wanted.method === 'POST'
      ? names.differences(contentType, headers.get('content-type'), 'content-type', true)
      : []),
    ...(headers.get('authorization')?.startsWith('Bearer ') ? [] : ['authorization is not "Bearer …"']),
  ]
}

/** What is answered, as it goes over the wire. */
export const textOfAnswer = (names: Names, { body, lines }: Answer): string => {
  if (lines)
    return names
      .fill(lines)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('')
  return typeof body === 'string' ? body : JSON.stringify(names.fill(body))
}

/** Where an answer of a system differs from the one that a script says. */
export const answerDifferences = (
  names: Names,
  { status, body, lines }: Answer,
  answered: { status: number; text: string },
): string[] => {
  const said = lines
    ? answered.text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : JSON.parse(answered.text)
  return names.differences({ status, body: lines ?? body }, { status: answered.status, body: said }, 'answer', false)
}
