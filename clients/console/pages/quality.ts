import type { VNode } from 'preact'
import type { QualityDay } from '../../typescript/src/endpoints.js'
import { useSession } from '../api/session.js'
import { Chart, type ChartLine } from '../components/chart.js'
import { html } from '../components/html.js'
import { NothingSent } from '../components/nothing-sent.js'
import { Asking, Card, Choose, PageHead, Table, When } from '../components/shown.js'
import { codeWords, count } from '../components/words.js'
import { choiceIn, goTo, linkTo, type PageProps } from '../frame/route.js'
import { useAnswer } from '../frame/use-answer.js'

const spans = ['7', '14', '30', '90']

const day = (stamp: number): string => new Date(stamp).toISOString().slice(0, 10)

/** What came in by type and day, and how good it was. */
export const QualityPage = ({ query }: PageProps): VNode => {
  const { types } = useSession()
  const names = types.map((each) => each.type)
  const type = choiceIn(query, 'type', names)
  const span = choiceIn(query, 'days', spans, '14')
  const to = Date.now()
  const from = to - (Number(span) - 1) * 86_400_000
  const asked = useAnswer<'/v1/quality'>(`/v1/quality?from=${day(from)}&to=${day(to)}`)
  const found = asked.answer?.days.filter((each) => !type || each.type === type)
  const days = Array.from({ length: Number(span) }, (_, index) => day(from + index * 86_400_000))
  const choose = (change: Record<string, string>) => goTo(linkTo(['quality'], { type, days: span, ...change }))
  return html`
    <${PageHead} title="Quality" about="Received, accepted, refused and waiting by day (UTC).">
      <${Choose} label="Type" value=${type} onChange=${(chosen: string) => choose({ type: chosen })} options=${[['', 'all'], ...names.map((each) => [each, each])]} />
      <${Choose} label="Days" value=${span} onChange=${(chosen: string) => choose({ days: chosen })} options=${spans.map((each) => [each, each])} />
    <//>
    <${Asking} ...${asked} has=${found !== undefined} />
    ${found?.length === 0 && html`<${NothingSent} title="Nothing came in these days." />`}
    ${
      found &&
      found.length > 0 &&
      html`
      <${Card}><${Chart} title=${type || 'All types'} unit="records a day" kind="bars" at=${days.map((each) => Date.parse(`${each}T00:00:00Z`) / 1000)} lines=${linesOf(found, days)} height=${280} /><//>
      <${Card} title="By type"><${ByType} found=${found} /><//>
      <${Card} title="Commonest problems"><${TopCodes} found=${found} type=${type} /><//>`
    }`
}

const linesOf = (found: readonly QualityDay[], days: readonly string[]): ChartLine[] => {
  const sumOf = (name: 'received' | 'accepted' | 'refused' | 'waiting') =>
    days.map((each) => found.filter((one) => one.day === each).reduce((sum, one) => sum + (one[name] ?? 0), 0))
  const lines: ChartLine[] = [
    { label: 'received', colour: 'received', values: sumOf('received'), isTotal: true },
    { label: 'accepted', colour: 'accepted', values: sumOf('accepted') },
    { label: 'waiting', colour: 'waiting', values: sumOf('waiting') },
    { label: 'refused', colour: 'refused', values: sumOf('refused') },
  ]
  return lines.filter(({ label, values }) => label !== 'waiting' || values.some((value) => (value ?? 0) > 0))
}

const TopCodes = ({ found, type }: { found: readonly QualityDay[]; type: string }): VNode => {
  const counts = new Map<string, number>()
  for (const { code, count: number } of found.flatMap(({ top_codes }) => top_codes))
    counts.set(code, (counts.get(code) ?? 0) + number)
  const sorted = [...counts].sort(([, a], [, b]) => b - a)
  const most = sorted[0]?.[1] ?? 1
  if (sorted.length === 0) return html`<p class="soft">Nothing was refused.</p>`
  return html`<ul class="plain bars">${sorted.map(
    ([code, number]) => html`<li key=${code}>
    <a href=${linkTo(['rejected', 'group'], { type, code, state: 'all' })}>${codeWords(code)}</a> <span class="number refused">${count(number)}</span>
    <meter aria-label=${codeWords(code)} min="0" max=${most} value=${number}></meter></li>`,
  )}</ul>`
}

const ByType = ({ found }: { found: readonly QualityDay[] }): VNode => {
  const none = { received: 0, accepted: 0, refused: 0, waiting: 0, last: null as string | null }
  const byType = new Map<string, typeof none>()
  for (const one of found) {
    const sum = byType.get(one.type) ?? none
    byType.set(one.type, {
      received: sum.received + one.received,
      accepted: sum.accepted + one.accepted,
      refused: sum.refused + one.refused,
      waiting: sum.waiting + (one.waiting ?? 0),
      last: [sum.last, one.last_accepted_at].filter(Boolean).sort().at(-1) ?? null,
    })
  }
  const sorted = [...byType].sort(([, a], [, b]) => b.received - a.received)
  return html`<${Table} label="By type" head=${html`<th scope="col">Type</th><th scope="col" class="number">Received</th><th scope="col" class="number">Accepted</th><th scope="col" class="number">Refused</th><th scope="col" class="number">Waiting</th><th scope="col">Last accepted</th>`}>
    ${sorted.map(([type, sum]) => html`<tr key=${type}><td><a href=${linkTo(['quality'], { type })}>${type}</a></td><td class="number">${count(sum.received)}</td><td class="number accepted">${count(sum.accepted)}</td><td class=${sum.refused > 0 ? 'number refused' : 'number soft'}>${count(sum.refused)}</td><td class=${sum.waiting > 0 ? 'number waiting' : 'number soft'}>${count(sum.waiting)}</td><td><${When} at=${sum.last} /></td></tr>`)}
  <//>`
}
