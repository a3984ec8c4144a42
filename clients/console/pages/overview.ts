import type { Overview } from '../../typescript/src/endpoints.js'
import type { LiveState } from '../api/live.js'
import { emptyRates, type LiveRates, ratesEvents, ratesWith } from '../api/rates.js'
import { useSession } from '../api/session.js'
import { followShared } from '../api/shared-live.js'
import { Chart, type ChartLine } from '../components/chart.js'
import { html } from '../components/html.js'
import { LiveBadge, LiveReason } from '../components/live-state.js'
import { Asking, Badge, Card, Empty, PageHead, Table, When } from '../components/shown.js'
import { ago, count } from '../components/words.js'
import { linkTo, type PageProps } from '../frame/route.js'
import { useAnswer } from '../frame/use-answer.js'
import { useEffect, useRef, useState } from '../vendor/hooks.js'
import type { VNode } from '../vendor/preact.js'

const names = ['accepted', 'refused', 'waiting', 'interactions'] as const

/** How it goes at this moment: what is decided, by the second; the parts; the last refusals. */
export const OverviewPage = (_: PageProps): VNode => {
  const { org } = useSession()
  const asked = useAnswer<'/v1/overview'>('/v1/overview', { every: 5_000 })
  const { rates, state, knownAt } = useRates()
  const overview = asked.answer
  // What is not known is not 0.
  const sums = names.map((name) => [name, rates?.[name].reduce((sum, value) => sum + value, 0)] as const)
  const isEmpty =
    sums.every(([, sum]) => sum === 0) && overview?.freshness.every(({ last_accepted_at }) => !last_accepted_at)
  return html`
    <${PageHead} title="Overview" about=${`What was decided on the records of ${org} in the last 15 minutes.`}>
      <${LiveBadge} state=${state} />
    <//>
    <${LiveReason} state=${state} />
    ${rates && !state.isOpen && html`<p class="soft small">These are the figures of ${new Date(knownAt).toLocaleTimeString('en-GB')}.</p>`}
    <dl class="figures">
      ${sums.map(([name, sum]) => html`<div key=${name}><dt><span class=${`dot ${name}`}></span>${name}</dt><dd class=${name}>${sum === undefined ? html`<span title="not known yet">–</span>` : count(sum)}</dd></div>`)}
    </dl>
    ${isEmpty && html`<${Empty} title="Nothing was sent yet." command="npm run -s weir -- sample --customers 500 --broken 2% --out .data/sample && npm run -s weir -- upload .data/sample"><p>Drop a file on <a href=${linkTo(['upload'])}>Upload</a>, or send sample files, some rows of them wrong:</p><//>`}
    ${rates && html`<${Card}><${Chart} title="Decided" unit="records a second" at=${rates.at.slice(0, -1)} lines=${linesOf(rates)} height=${260} /><//>`}
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
          : html`<${Table} label="The last refused records" head=${html`<th scope="col">When</th><th scope="col">Type</th><th scope="col">Record</th><th scope="col">Why</th>`}>
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

const linesOf = (rates: LiveRates): ChartLine[] =>
  names.map((name) => ({
    label: name,
    colour: name,
    // The bucket under way would look like a fall.
    values: rates[name].slice(0, -1).map((value) => value / rates.bucketSeconds),
  }))

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

/** Undefined until the first answer; afterwards what was known when the stream was last open. */
const useRates = (): { rates: LiveRates | undefined; state: LiveState; knownAt: number } => {
  const session = useSession()
  const [rates, setRates] = useState<LiveRates>()
  const [state, setState] = useState<LiveState>({ isOpen: false })
  const knownAt = useRef(0)
  if (state.isOpen) knownAt.current = Date.now()
  useEffect(() => {
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
  }, [session])
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
