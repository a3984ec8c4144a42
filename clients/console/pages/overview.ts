import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Overview } from '../../typescript/src/endpoints.js'
import type { LiveState } from '../api/live.js'
import { emptyRates, type LiveRates, ratesEvents, ratesWith } from '../api/rates.js'
import { useSession } from '../api/session.js'
import { followShared } from '../api/shared-live.js'
import { Chart, type ChartLine } from '../components/chart.js'
import { html } from '../components/html.js'
import { LiveBadge, LiveReason } from '../components/live-state.js'
import { NothingSent } from '../components/nothing-sent.js'
import { Asking, Badge, Card, Choose, PageHead, Table, When } from '../components/shown.js'
import { zoneWords } from '../components/time-zone.js'
import { ago, count, timeOfDay } from '../components/words.js'
import { choiceIn, goTo, linkTo, type PageProps } from '../frame/route.js'
import { useAnswer } from '../frame/use-answer.js'

const names = ['accepted', 'refused', 'interactions'] as const

// The periods that can be chosen. The unit of the chart is records in `per` seconds; the page asks for new figures after `every`
// milliseconds. The shortest period is live.
const spans = {
  '15m': { words: '15 minutes', per: 1, unit: 'records a second' },
  '1h': { words: 'hour', per: 1, unit: 'records a second', every: 20_000 },
  '6h': { words: '6 hours', per: 60, unit: 'records a minute', every: 60_000 },
  '24h': { words: '24 hours', per: 60, unit: 'records a minute', every: 60_000 },
  '7d': { words: '7 days', per: 3_600, unit: 'records an hour', every: 300_000 },
  '30d': { words: '30 days', per: 3_600, unit: 'records an hour', every: 300_000 },
  '90d': { words: '90 days', per: 86_400, unit: 'records a day', every: 300_000 },
} as const
type Span = keyof typeof spans

/** How it goes: what is decided, by the second or over months; what waits; the parts; the last refusals. */
export const OverviewPage = ({ query }: PageProps): VNode => {
  const { org } = useSession()
  const span = choiceIn(query, 'span', Object.keys(spans), '15m') as Span
  const asked = useAnswer<'/v1/overview'>('/v1/overview', { every: 5_000 })
  const { rates, state, knownAt, past } = useDecided(span)
  const overview = asked.answer
  const { words, per, unit } = spans[span]
  // What is not known is not 0.
  const sums = names.map((name) => [name, rates?.[name].reduce((sum, value) => sum + value, 0)] as const)
  const isEmpty =
    sums.every(([, sum]) => sum === 0) && overview?.freshness.every(({ last_accepted_at }) => !last_accepted_at)
  return html`
    <${PageHead} title="Overview" about=${`What was decided on the records of ${org} in the last ${words}.`}>
      ${state && html`<${LiveBadge} state=${state} />`}
      <${Choose} label="Period" value=${span} options=${Object.entries(spans).map(([value, each]) => [value, `last ${each.words}`])} onChange=${(chosen: string) => goTo(linkTo(['overview'], { span: chosen === '15m' ? '' : chosen }))} />
    <//>
    ${state && html`<${LiveReason} state=${state} />`}
    ${state && rates && !state.isOpen && html`<p class="soft small">These are the figures of ${timeOfDay(knownAt)} (${zoneWords()}).</p>`}
    ${past && html`<${Asking} ...${past} has=${rates !== undefined} />`}
    <dl class="figures">
      ${sums.map(([name, sum]) => html`<${Figure} key=${name} name=${name} number=${sum} />`)}
      <${Figure} name="waiting" words="waiting now" number=${overview?.waiting} most=${mostCounted} />
    </dl>
    ${isEmpty && html`<${NothingSent} />`}
    ${rates && !isEmpty && html`<${Card}><${Chart} key=${span} title="Decided" unit=${unit} at=${rates.at.slice(0, -1)} lines=${linesOf(rates, per)} height=${260} /><//>`}
    <${Asking} ...${asked} has=${overview !== undefined} />
    ${
      overview &&
      html`<div class="two">
      <${Card} title="The parts">
        <ul class="plain parts">${overview.parts.map(({ name, ok, words }) => html`<li key=${name}><${Badge} state=${ok ? 'ok' : 'away'} words=${ok ? 'fine' : 'trouble'} /> <strong>${name}</strong> <span class="soft">${words}</span></li>`)}</ul>
        ${overview.lag && html`<h3>How far deciding is behind</h3><p>${lagWords(overview.lag)}</p>`}
      <//>
      <${Card} title="Last accepted, by type">
        <${Freshness} freshness=${overview.freshness} />
      <//>
    </div>
    ${
      overview.last_refusals &&
      html`<${Card} title="The last refusals">
      ${
        overview.last_refusals.length === 0
          ? html`<p class="soft">None are kept.</p>`
          : html`<${Table} label="The last refused records" isCards head=${html`<th scope="col">When</th><th scope="col">Type</th><th scope="col">Record</th><th scope="col">Why</th>`}>
            ${overview.last_refusals.map(
              (one) => html`<tr key=${one.rejection_id}>
              <td class="nowrap"><a href=${linkTo(['requests', one.request_id])}>${ago(one.rejected_at)}</a></td><td>${one.type}</td>
              <td class="mono small">${one.id ? html`<a href=${linkTo(['journey', one.type, one.id])}>${one.id}</a>` : html`<span class="soft">no id</span>`}</td>
              <td class="text">${one.problems.map(({ message }) => message).join('; ')}</td></tr>`,
            )}
          <//>`
      }
    <//>`
    }`
    }`
}

// The service counts no further.
const mostCounted = 100_000

type FigureProps = { name: string; words?: string; number: number | undefined; most?: number }

const Figure = ({ name, words = name, number, most = Number.POSITIVE_INFINITY }: FigureProps): VNode => html`
  <div><dt><span class=${`dot ${name}`}></span>${words}</dt><dd class=${name}>${number === undefined ? html`<span title="not known yet">–</span>` : `${count(number)}${number >= most ? ' or more' : ''}`}</dd></div>`

const labels = { accepted: 'accepted', refused: 'refused', waiting: 'began to wait', interactions: 'interactions' }

/** Of what there is something to be seen of; where there is nothing at all, what would be accepted. */
const linesOf = (rates: LiveRates, per: number): ChartLine[] => {
  const lines = (['accepted', 'refused', 'waiting', 'interactions'] as const).map((name) => ({
    label: labels[name],
    colour: name,
    // The bucket under way would look like a fall.
    values: rates[name].slice(0, -1).map((value) => (value / rates.bucketSeconds) * per),
  }))
  const seen = lines.filter(({ values }) => values.some((value) => value > 0))
  return seen.length > 0 ? seen : lines.slice(0, 1)
}

const lagWords = (lag: NonNullable<Overview['lag']>): string => {
  const behind = lag.filter(({ seconds }) => seconds >= 1).sort((a, b) => b.seconds - a.seconds)
  if (behind.length === 0) return 'Nothing waits to be decided for longer than a second.'
  return behind.map(({ type, seconds }) => `${type}: ${seconds.toFixed(0)} s`).join(', ')
}

const Freshness = ({ freshness }: Pick<Overview, 'freshness'>): VNode => {
  const known = freshness.filter(({ last_accepted_at }) => last_accepted_at)
  const newest = known.sort((a, b) => (b.last_accepted_at ?? '').localeCompare(a.last_accepted_at ?? ''))
  const never = freshness.filter(({ last_accepted_at }) => !last_accepted_at)
  return html`
    <dl class="pairs">${newest.map(({ type, last_accepted_at }) => html`<dt key=${type}>${type}</dt><dd><${When} at=${last_accepted_at} /></dd>`)}</dl>
    ${never.length > 0 && html`<p class="soft small never">None yet of ${never.map(({ type }) => type).join(', ')}.</p>`}`
}

/** What was decided in a time: the last minutes as it happens, with the `state` of that, or else the `past`, asked for now and then. */
const useDecided = (span: Span) => {
  const isLive = span === '15m'
  const { every } = { every: 0, ...spans[span] }
  const past = useAnswer<'/v1/activity'>(isLive ? undefined : `/v1/activity?span=${span}`, { every })
  const live = useRates(isLive)
  if (isLive) return { ...live, past: undefined }
  const rates = past.answer && ratesWith(emptyRates(0), { name: 'history', data: past.answer })
  return { rates, state: undefined, knownAt: 0, past }
}

/** Undefined until the first answer; afterwards what was known when the stream was last open. */
const useRates = (isWanted: boolean): { rates: LiveRates | undefined; state: LiveState; knownAt: number } => {
  const session = useSession()
  const [rates, setRates] = useState<LiveRates>()
  const [state, setState] = useState<LiveState>({ isOpen: false })
  const knownAt = useRef(0)
  if (state.isOpen) knownAt.current = Date.now()
  useEffect(() => {
    if (!isWanted) return
    const ending = new AbortController()
    followShared(session, '/v1/live', {
      signal: ending.signal,
      remember: ratesEvents,
      onEvent: (event) =>
        setRates((before) =>
          before || event.name === 'history' ? ratesWith(before ?? emptyRates(0), event) : undefined,
        ),
      onState: (next) => {
        setState(next)
        if (!next.isOpen && next.status === undefined) session.connection.lost()
      },
    })
    return () => ending.abort()
  }, [session, isWanted])
  useEffect(() => {
    if (!state.isOpen) return
    // Where nothing is decided, time goes on all the same: but only as long as that is known.
    const timer = setInterval(
      () => setRates((before) => before && ratesWith(before, { name: 'tick', data: Date.now() })),
      5_000,
    )
    return () => clearInterval(timer)
  }, [state.isOpen])
  return { rates, state, knownAt: knownAt.current }
}
