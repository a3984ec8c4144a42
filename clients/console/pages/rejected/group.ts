import type { Rejection } from '../../../typescript/src/endpoints.js'
import type { RejectionFilter, RejectionRetry } from '../../../typescript/src/index.js'
import { may, useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Asking, Badge, Card, Confirm, Empty, Json, PageHead, Problems, When } from '../../components/shown.js'
import { codeWords, records, sentence } from '../../components/words.js'
import { Pager } from '../../frame/pager.js'
import { linkTo, type PageProps } from '../../frame/route.js'
import { useAnswer } from '../../frame/use-answer.js'
import { useState } from '../../vendor/hooks.js'
import type { VNode } from '../../vendor/preact.js'
import { MendRefused } from './mend.js'

type Filter = { type?: string; code?: string; field?: string; since?: string; request_id?: string }

/** The refused records of one group: to look at, to mend, and to have tried again once the reason is gone. */
export const RefusedGroupPage = ({ query }: PageProps): VNode => {
  const filter = Object.fromEntries(
    ['type', 'code', 'field', 'since', 'request_id'].flatMap((name) =>
      query.get(name) ? [[name, query.get(name)]] : [],
    ),
  ) as Filter
  const cursor = query.get('cursor')
  const path = `/v1/rejections?${new URLSearchParams({ ...filter, ...(cursor && { cursor }), limit: '20' })}`
  const asked = useAnswer<'/v1/rejections'>(path)
  const shown = asked.answer?.rejections ?? []
  return html`
    <p class="small"><a href=${linkTo(['rejected'], { type: filter.type })}>Rejected</a></p>
    <${PageHead} title=${[filter.type, filter.code && codeWords(filter.code)].filter(Boolean).join(': ') || 'Refused records'} about=${filter.field && html`The field is <code>${filter.field}</code>.`}>
      <button type="button" onClick=${asked.reload}>Refresh</button>
    <//>
    <${RetryGroup} filter=${filter} onDone=${asked.reload} />
    <${Asking} ...${asked} has=${shown.length > 0} />
    ${asked.answer && shown.length === 0 && html`<${Empty} title="No refused record is in this group (any more)." />`}
    ${shown.map((one) => html`<${Refusal} key=${one.rejection_id} one=${one} onSent=${asked.reload} />`)}
    <${Pager} path=${['rejected', 'group']} query=${filter} cursor=${cursor} next=${asked.answer?.next_cursor} words=${{ first: 'Newest', next: 'Older' }} />`
}

const Refusal = ({ one, onSent }: { one: Rejection; onSent: () => void }): VNode => {
  const { types, me, org } = useSession()
  const [isOpen, setOpen] = useState(false)
  const type = types.find((each) => each.type === one.type)
  const canMend =
    type &&
    !one.truncated &&
    typeof one.record === 'object' &&
    one.record !== null &&
    org === me.org_id &&
    may(me, `${one.type}:write`)
  return html`
    <div class="card refusal" role="group" aria-label=${`Refused record ${one.id ?? one.index}`}>
      <div class="line">
        <strong class="mono">${one.id ? html`<a href=${linkTo(['journey', one.type, one.id])}>${one.id}</a>` : 'no id'}</strong>
        <${Badge} state=${one.state} words=${stateWords[one.state]} />
        <span class="soft small">refused <${When} at=${one.rejected_at} /> · record ${one.index} of <a href=${linkTo(['requests', one.request_id])}>its request</a></span>
      </div>
      <${Problems} problems=${one.problems} />
      ${one.retry && html`<p class="small">Tried again <${When} at=${one.retry.retried_at} />: <${Badge} state=${one.retry.outcome} />${one.retry.request_id && html` in <a href=${linkTo(['requests', one.retry.request_id])}>this request</a>`}</p>`}
      ${
        isOpen && type && canMend
          ? html`<${MendRefused} type=${type} one=${one} onSent=${onSent} onClose=${() => setOpen(false)} />`
          : html`<details><summary>The record</summary><${Json} value=${one.record} label="The record as it was sent" />${one.truncated && html`<p class="soft">It was too large to be kept whole.</p>`}</details>
            ${canMend && html`<div class="actions"><button type="button" onClick=${() => setOpen(true)}>Mend it</button></div>`}`
      }
    </div>`
}

const stateWords: Record<string, string> = {
  open: 'open',
  retried: 'tried again',
  accepted_since: 'accepted since',
  overtaken: 'a later one came, and was refused too or waits',
}

/** Submits a whole group again: first tells how many that would be, then follows what becomes of them. */
const RetryGroup = ({ filter, onDone }: { filter: Filter; onDone: () => void }): VNode | null => {
  const { weir, me, org } = useSession()
  const [plan, setPlan] = useState<RejectionRetry>()
  const [order, setOrder] = useState<RejectionRetry>()
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  if (!may(me, 'rejections:write') || org !== me.org_id) return null

  const send = async (dryRun: boolean) => {
    setBusy(true)
    setProblem(undefined)
    try {
      // Sent again where no answer came, and taken once all the same.
      const answer = await weir.rejections.retry(filter as RejectionFilter, { dryRun, giveUpAfterMs: 60_000 })
      if (dryRun) setPlan(answer)
      else await follow(answer)
    } catch (error) {
      setProblem((error as Error).message)
    }
    setBusy(false)
  }
  const follow = async (first: RejectionRetry) => {
    setPlan(undefined)
    setOrder(first)
    for (let now = first; now.status === 'running'; ) {
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      now = await weir.rejections.getRetry(now.request_id)
      setOrder(now)
    }
    onDone()
  }
  return html`
    <${Card} title="Try all of them again">
      <p class="soft">For records that were right and came too early, such as an offer that came before its shop. Each is submitted once; what was accepted since is left out.</p>
      <div role="status">
        ${plan && html`<p>${records(plan.submitted)} would be submitted again${skippedWords(plan)}.</p>`}
        ${order && html`<p><${Badge} state=${order.status} /> ${records(order.submitted)} submitted: <span class="accepted">${order.accepted ?? 0} accepted</span>, <span class="refused">${order.refused ?? 0} refused again</span>${(order.waiting ?? 0) > 0 && `, ${order.waiting} not decided yet`}${(order.given_up ?? 0) > 0 && `, ${order.given_up} left out after all`}.</p>`}
      </div>
      ${problem && html`<p class="notice bad" role="alert">${sentence(problem)}</p>`}
      <div class="actions">
        <button type="button" disabled=${isBusy} onClick=${() => send(true)}>See how many</button>
        ${plan && plan.submitted > 0 && html`<${Confirm} isDanger=${false} question=${`Submit ${records(plan.submitted)} again?`} action="Submit them" onYes=${() => send(false)}>Try them again<//>`}
      </div>
    <//>`
}

const skippedWords = ({ skipped }: RejectionRetry): string => {
  const words: Record<string, string> = {
    already_retried: 'tried again before',
    accepted_since: 'accepted since',
    not_kept_whole: 'too large to be kept whole',
    over_limit: 'more than at once: ask again for these',
  }
  const left = Object.entries(skipped).filter(([, number]) => number > 0)
  return left.length === 0
    ? ''
    : `; left out are ${left.map(([name, number]) => `${number} (${words[name] ?? name})`).join(', ')}`
}
