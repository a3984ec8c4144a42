import type { ColumnReference, MartReference } from '../../../typescript/src/endpoints.js'
import { goTo, linkTo } from '../../frame/route.js'
import { type PageAnswer, useAnswer } from '../../frame/use-answer.js'

/** What the page is to show: which days (null: all), which region and which shop ('': all). */
export type AnalyticsChoice = { time: string; from: string | null; to: string | null; region: string; shop: string }

/** What every part of the page works with. */
export type AnalyticsProps = {
  marts: readonly MartReference[]
  chosen: AnalyticsChoice
  /** The names of the shops that sold most, by their ids. */
  shops: ReadonlyMap<string, string>
  query: URLSearchParams
}

export type AnsweredRow = Readonly<Record<string, unknown>>

/** An answer about a mart, and in words what was chosen and does not count for it. */
export type MartAnswer = Pick<PageAnswer<unknown>, 'problem' | 'isLoading' | 'reload'> & {
  answer:
    | { columns: readonly ColumnReference[]; rows: readonly AnsweredRow[]; sql: string; truncated: boolean }
    | undefined
  passedOver: string
}

type Question = { by?: string; sum?: string; order?: string; limit?: string }

/** Asks for rows of a mart, with all that was chosen and that the mart has a column for. */
export const useMart = (
  { marts, chosen }: Pick<AnalyticsProps, 'marts' | 'chosen'>,
  name: string,
  question: Question,
): MartAnswer => {
  const columns = marts.find((each) => each.name === name)?.columns ?? []
  const has = (column: string) => columns.some((each) => each.name === column)
  const { from, to, region, shop } = chosen
  const asked = new URLSearchParams({
    ...(has('day') && { ...(from && { from }), ...(to && { to }) }),
    ...(has('region') && region && { region }),
    ...(has('shop_id') && shop && { shop_id: shop }),
    ...question,
  })
  const { answer, ...rest } = useAnswer<'/v1/marts/{mart}'>(`/v1/marts/${name}?${asked}`)
  const passedOver = [
    (from || to) && !has('day') && 'all days',
    region && !has('region') && 'all regions',
    shop && !has('shop_id') && 'all shops',
  ]
  return { ...rest, answer, passedOver: passedOver.filter(Boolean).join(', ') }
}

/** Numbers as the charts draw them; money comes as text. */
export const numberOf = (value: unknown): number => Number(value ?? 0)

export const textOf = (value: unknown): string => (value === null || value === undefined ? '' : String(value))

export const times: readonly (readonly [value: string, words: string])[] = [
  ['7', 'last 7 days'],
  ['30', 'last 30 days'],
  ['90', 'last 90 days'],
  ['365', 'last 365 days'],
  ['all', 'all time'],
  ['own', 'from … to …'],
]

/** What the address says; whatever else somebody typed there counts as nothing. */
export const readChoice = (query: URLSearchParams, now: number): AnalyticsChoice => {
  const given = query.get('time') ?? ''
  const time = times.some(([value]) => value === given) ? given : '30'
  const region = query.get('region') ?? ''
  const shop = query.get('shop') ?? ''
  return {
    time,
    ...daysIn(time, query, now),
    region: /^[A-Z]{2}$/.test(region) ? region : '',
    shop: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(shop) ? shop : '',
  }
}

const daysIn = (time: string, query: URLSearchParams, now: number): Pick<AnalyticsChoice, 'from' | 'to'> => {
  if (time === 'all') return { from: null, to: null }
  if (time !== 'own') return { from: dayOf(now - (Number(time) - 1) * 86_400_000), to: dayOf(now) }
  const [from, to] = [readDay(query.get('from')), readDay(query.get('to'))]
  return { from, to: from && to && to < from ? null : to }
}

export const dayOf = (stamp: number): string => new Date(stamp).toISOString().slice(0, 10)

const readDay = (text: string | null): string | null =>
  text && /^\d{4}-\d\d-\d\d$/.test(text) && Date.parse(text) > 0 ? text : null

/** The address of the page with some of it changed; what was chosen besides stays. */
export const linkWith = (query: URLSearchParams, change: Record<string, string>): string =>
  linkTo(['analytics'], { ...Object.fromEntries(query), ...change })

export const choose = (query: URLSearchParams, change: Record<string, string>): void => goTo(linkWith(query, change))
