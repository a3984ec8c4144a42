import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { RecordChange, RejectionFilter, RejectionRetry } from '../../../typescript/src/index.js'
import { may, useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Badge, Card, Confirm } from '../../components/shown.js'
import { count, records, sentence } from '../../components/words.js'

/** Which records a page is about, as it stands in its address. */
export type GroupFilter = {
  type?: string
  code?: string
  field?: string
  since?: string
  request_id?: string
  state?: string
}

/** Only records of the key's own organisation are submitted again, by a key that may. */
export const useMayRetry = (): boolean => {
  const { me, org } = useSession()
  return may(me, 'rejections:write') && org === me.org_id
}

// As many as are taken at once.
const limit = 10_000

/** Submits a group again, with one value changed where that is asked for: first says how many that would be, then goes on to the end. */
export const useRetry = ({ state: _, ...filter }: GroupFilter, onDone: () => void) => {
  const { weir } = useSession()
  const [plan, setPlan] = useState<RejectionRetry>()
  const [order, setOrder] = useState<RejectionRetry>()
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  // Sent again where no answer came, and taken once all the same.
  const options = { limit, giveUpAfterMs: 60_000 }
  const meant = filter as Omit<RejectionFilter, 'state'>

  const all = async (work: () => Promise<void>) => {
    setBusy(true)
    setProblem(undefined)
    await work().catch((error: Error) => setProblem(error.message))
    setBusy(false)
  }
  const follow = async (first: RejectionRetry, before: RejectionRetry | undefined): Promise<RejectionRetry> => {
    for (let now = first; ; now = await weir.rejections.getRetry(now.request_id)) {
      const sum = before ? added(before, now) : now
      setOrder(sum)
      if (now.status !== 'running') return sum
      await new Promise((resolve) => setTimeout(resolve, 1_000))
    }
  }
  return {
    ...{ plan, order, problem, isBusy },
    forget: () => setPlan(undefined),
    look: (change?: RecordChange) =>
      all(async () => setPlan(await weir.rejections.retry(meant, { ...options, dryRun: true, change }))),
    send: (change?: RecordChange) =>
      all(async () => {
        setPlan(undefined)
        let done: RejectionRetry | undefined
        let cursor: string | null | undefined
        do {
          const next = await weir.rejections.retry(meant, { ...options, change, ...(cursor && { cursor }) })
          done = await follow(next, done)
          cursor = next.next_cursor
        } while (cursor)
        onDone()
      }),
  }
}

const added = (before: RejectionRetry, now: RejectionRetry): RejectionRetry => {
  const sum = (name: 'submitted' | 'accepted' | 'refused' | 'waiting' | 'given_up') =>
    (before[name] ?? 0) + (now[name] ?? 0)
  return {
    ...now,
    submitted: sum('submitted'),
    ...{ accepted: sum('accepted'), refused: sum('refused'), waiting: sum('waiting'), given_up: sum('given_up') },
  }
}

type ShownProps = Pick<ReturnType<typeof useRetry>, 'plan' | 'order' | 'problem'>

/** How many it would be, what became of them, and what went wrong. */
export const RetryShown = ({ plan, order, problem }: ShownProps): VNode => html`
  <div role="status">
    ${plan && html`<p>${records(plan.submitted)} would be submitted again${skippedWords(plan)}.</p>`}
    ${order && html`<p><${Badge} state=${order.status} /> ${records(order.submitted)} submitted: <span class="accepted">${count(order.accepted ?? 0)} accepted</span>, <span class="refused">${count(order.refused ?? 0)} refused again</span>${(order.waiting ?? 0) > 0 && `, ${count(order.waiting ?? 0)} not decided yet`}${(order.given_up ?? 0) > 0 && `, ${count(order.given_up ?? 0)} left out after all`}.${order.status === 'running' && ' It goes on without this page, too.'}</p>`}
  </div>
  ${problem && html`<p class="notice bad" role="alert">${sentence(problem)}</p>`}`

const skippedWords = ({ skipped }: RejectionRetry): string => {
  const words: Record<string, string> = {
    already_retried: 'tried again before',
    accepted_since: 'accepted since',
    not_kept_whole: 'too large to be kept whole',
    over_limit: 'looked at when these are done',
  }
  const left = Object.entries(skipped).filter(([, number]) => number > 0)
  return left.length === 0
    ? ''
    : `; left out are ${left.map(([name, number]) => `${count(number)} (${words[name] ?? name})`).join(', ')}`
}

/** Submits a whole group again as it was sent. */
export const RetryGroup = ({ filter, onDone }: { filter: GroupFilter; onDone: () => void }): VNode | null => {
  const retry = useRetry(filter, onDone)
  if (!useMayRetry()) return null
  const { plan } = retry
  return html`
    <${Card} title="Try all of them again">
      <p class="soft">For records that were right and came too early, such as an offer that came before its shop. Each is submitted once; what was accepted since is left out.</p>
      <${RetryShown} ...${retry} />
      <div class="actions">
        <button type="button" disabled=${retry.isBusy} onClick=${() => retry.look()}>See how many</button>
        ${plan && plan.submitted > 0 && html`<${Confirm} isDanger=${false} question=${`Submit ${records(plan.submitted)} again?`} action="Submit them" onYes=${() => retry.send()}>Try them again<//>`}
      </div>
    <//>`
}
