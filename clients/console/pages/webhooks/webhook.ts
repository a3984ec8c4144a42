import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { AnswerTo, Endpoints, Webhook, WebhookDelivery } from '../../../typescript/src/endpoints.js'
import { useSession, wordsOf } from '../../api/session.js'
import { html } from '../../components/html.js'
import { type JustDone, WhatWasDone } from '../../components/just-done.js'
import { Asking, Card, Choose, Confirm, Copyable, PageHead, When } from '../../components/shown.js'
import { count, moment, sentence } from '../../components/words.js'
import { Pager } from '../../frame/pager.js'
import { choiceIn, goTo, linkTo, type PageProps } from '../../frame/route.js'
import { useAnswer } from '../../frame/use-answer.js'
import { AgainAll, type LogStretch } from './again.js'
import { type WantedWebhook, WebhookForm } from './form.js'
import { attemptWords, DeliveryLog } from './log.js'
import { lookAgainAfter, WebhookState } from './state.js'

/** One webhook: how it is, what was delivered, and all that can be done with it. */
export const WebhookPage = ({ rest: [id = ''], query }: PageProps): VNode => {
  const { ask, org, me } = useSession()
  const mayChange = org === me.org_id
  const path = `/v1/webhooks/${encodeURIComponent(id)}`
  const state = choiceIn(
    query,
    'state',
    states.map(([value]) => value),
  )
  const cursor = query.get('cursor')
  const [again, setAgain] = useState<{ every?: number }>({})
  const [gone, setGone] = useState<JustDone>()
  const asked = useAnswer<'/v1/webhooks/{webhook_id}'>(gone ? undefined : path, again)
  const page = new URLSearchParams({ limit: '20', ...(state && { state }), ...(cursor && { cursor }) })
  const log = useAnswer<'/v1/webhooks/{webhook_id}/deliveries'>(gone ? undefined : `${path}/deliveries?${page}`, again)
  const webhook = asked.answer
  const deliveries = log.answer?.deliveries
  const isPending = Boolean(webhook?.waiting_since) || Boolean(deliveries?.some((each) => each.state === 'pending'))
  const { every } = lookAgainAfter(webhook, isPending)
  useEffect(() => setAgain(every === undefined ? {} : { every }), [every])

  const [done, setDone] = useState<JustDone>()
  const [problem, setProblem] = useState<string>()
  const [watched, setWatched] = useState<Watched>()

  const act = async (work: () => Promise<JustDone | undefined>) => {
    setProblem(undefined)
    setWatched(undefined)
    // The box with a new secret stays until its button is pressed, which says that the secret is copied.
    setDone((before) => (before?.secret ? before : undefined))
    try {
      const made = await work()
      if (made) setDone(made)
    } catch (error) {
      setProblem(wordsOf(error))
    }
    asked.reload()
    log.reload()
  }
  const test = () =>
    act(async () => {
      type Sent = AnswerTo<'POST /v1/webhooks/{webhook_id}/test'>
      const { delivery_id } = await ask<Sent>(`${path}/test`, { method: 'POST' })
      // There it stands first.
      goTo(linkTo(['webhooks', id]))
      setWatched({ delivery_id, what: 'The test', attempts: 0 })
      return undefined
    })
  const replay = async (body: Endpoints['POST /v1/webhooks/{webhook_id}/replay']['body']): Promise<number> => {
    type Replayed = AnswerTo<'POST /v1/webhooks/{webhook_id}/replay'>
    return (await ask<Replayed>(`${path}/replay`, { method: 'POST', body })).deliveries
  }
  const againOne = ({ delivery_id, event, attempts }: WebhookDelivery) =>
    act(async () => {
      if ((await replay({ delivery_id })) === 0) return { words: 'It is no longer in the log, or on its way already.' }
      // It is of another state now.
      goTo(linkTo(['webhooks', id], { cursor }))
      setWatched({ delivery_id, what: `The delivery of ${event}`, attempts })
      return undefined
    })
  const againAll = (stretch: LogStretch) =>
    act(async () => {
      const many = await replay(stretch)
      if (many === 0) return { words: 'There is nothing in this time that could be delivered again.' }
      if (many === 1) return { words: '1 delivery is on its way again: the log says what comes of it.' }
      return { words: `${count(many)} deliveries are on their way again: the log says what comes of each.` }
    })
  const change = (body: Endpoints['PATCH /v1/webhooks/{webhook_id}']['body']) =>
    ask<Webhook>(path, { method: 'PATCH', body })
  const enable = (enabled: boolean) =>
    act(async () => {
      await change({ enabled })
      return {
        words: enabled ? 'It is enabled, and goes on where it stopped.' : 'It is disabled: nothing is sent to it.',
      }
    })
  const save = async (wanted: WantedWebhook) => {
    await change(wanted)
    await act(async () => ({ words: 'The webhook is changed.' }))
  }
  const rotate = (graceSeconds: number) =>
    act(async () => {
      type Rotated = AnswerTo<'POST /v1/webhooks/{webhook_id}/rotate'>
      const made = await ask<Rotated>(`${path}/rotate`, { method: 'POST', body: { grace_seconds: graceSeconds } })
      const words = graceSeconds > 0 ? ` Until ${moment(made.former_until)} deliveries are signed with both.` : ''
      const about = `It is shown this once: copy it now.${words}`
      return { words: 'The webhook has a new secret.', secret: { about, text: made.secret, label: 'The new secret' } }
    })
  const drop = async () => {
    try {
      await ask(path, { method: 'DELETE' })
      setGone({ words: `The webhook to ${webhook?.url ?? id} is deleted, and its log with it.` })
    } catch (error) {
      setProblem(wordsOf(error))
    }
  }

  const back = html`<p class="small"><a href=${linkTo(['webhooks'])}>Webhooks</a></p>`
  if (gone)
    return html`${back}<${PageHead} title="A webhook" /><${WhatWasDone} done=${gone} onSeen=${() => setGone(undefined)} />`
  return html`
    ${back}
    <${PageHead} title="A webhook" record=${webhook ? `Webhook ${webhook.url}` : undefined} about=${html`<${Copyable} text=${id} what="the id" />`}>
      ${mayChange && webhook?.enabled && html`<button class="primary" type="button" onClick=${test}>Send a test</button>`}
      ${mayChange && webhook && (webhook.enabled ? html`<${Confirm} isDanger=${false} question="Nothing is sent until it is enabled; then it goes on where it stopped." action="Disable it" onYes=${() => enable(false)}>Disable<//>` : html`<button class="primary" type="button" onClick=${() => enable(true)}>Enable</button>`)}
      <button type="button" onClick=${() => act(async () => undefined)}>Refresh</button>
    <//>
    ${problem && html`<p class="notice bad" role="alert">${sentence(problem)}</p>`}
    ${done && html`<${WhatWasDone} done=${done} onSeen=${() => setDone(undefined)} />`}
    ${watched && html`<${Outcome} watched=${watched} delivery=${deliveries?.find((each) => each.delivery_id === watched.delivery_id)} />`}
    <${Asking} ...${asked} has=${webhook !== undefined} />
    ${webhook && html`<${HowItIs} of=${webhook} />`}
    ${
      webhook &&
      html`<${Card} title="Deliveries">
      <div class="tabs" role="group" aria-label="State">
        ${states.map(([value, words]) => html`<button key=${value} type="button" aria-pressed=${state === value} onClick=${() => goTo(linkTo(['webhooks', id], { state: value }))}>${words}</button>`)}
      </div>
      <${Asking} ...${log} has=${deliveries !== undefined} />
      ${deliveries && html`<${DeliveryLog} deliveries=${deliveries} none=${noneWords(state, mayChange && webhook.enabled)} onAgain=${mayChange && webhook.enabled ? againOne : undefined} />`}
      <${Pager} path=${['webhooks', id]} query=${{ state }} cursor=${cursor} next=${log.answer?.next_cursor} words=${{ first: 'Newest', next: 'Older' }} />
    <//>`
    }
    ${
      webhook &&
      mayChange &&
      html`<div class="two">
      <${WebhookForm} key=${`${webhook.url} ${webhook.events.join()}`} title="Change it" action="Save" now=${webhook} onSave=${save} />
      <div>
        ${webhook.enabled && html`<${AgainAll} onAgain=${againAll} />`}
        <${Rotate} onRotate=${rotate} />
        <${Card} title="Delete it"><div class="actions"><${Confirm} question="Its log goes with it, and what is on its way is given up." action="Delete it" onYes=${drop}>Delete the webhook<//></div><//>
      </div>
    </div>`
    }
    ${webhook && !mayChange && html`<p class="soft small">Webhooks of another organisation are changed with a key of theirs, or by <code>weir webhooks</code> on the server.</p>`}`
}

const states = [
  ['', 'all'],
  ['pending', 'pending'],
  ['delivered', 'delivered'],
  ['failed', 'failed'],
] as const

const noneWords = (state: string, mayTest: boolean): string => {
  if (state !== '') return `No delivery is ${state}.`
  return `Nothing was delivered yet.${mayTest ? ' Send a test to see whether your receiver is there.' : ''}`
}

const HowItIs = ({ of: webhook }: { of: Webhook }): VNode => html`
  <${Card}>
    <dl class="pairs">
      <dt>Address</dt><dd class="mono">${webhook.url}</dd>
      <dt>State</dt><dd><${WebhookState} of=${webhook} /></dd>
      <dt>Told of</dt><dd>${webhook.events.map((event, index) => html`<span key=${event}>${index > 0 && ', '}<code>${event}</code></span>`)}</dd>
      <dt>Made</dt><dd><${When} at=${webhook.created_at} /></dd>
      ${webhook.waiting_since && html`<dt>Pending</dt><dd>the oldest since <${When} at=${webhook.waiting_since} /></dd>`}
    </dl>
    ${webhook.enabled && webhook.failing_since && html`<p class="notice bad">Your receiver does not take what comes next: the log says what it answers. It is tried again ever more seldom, up to an hour apart, and the webhook is disabled after three days, unless the operator says otherwise. Nothing is lost meanwhile.</p>`}
    ${!webhook.enabled && html`<p class="notice">Nothing is sent to it. Once it is enabled it goes on where it stopped.</p>`}
  <//>`

/** The delivery that was just asked for (a test, or one again), whose outcome is shown. `attempts`: how many it had before. */
type Watched = { delivery_id: string; what: string; attempts: number }
type OutcomeProps = { watched: Watched; delivery: WebhookDelivery | undefined }

/** The outcome of the delivery that was just asked for; it is not known where the delivery is on another page of the log. */
const Outcome = ({ watched, delivery }: OutcomeProps): VNode => {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.focus(), [watched])
  const last = delivery && delivery.attempts > watched.attempts ? delivery.tried.at(-1) : undefined
  const answer = last ? `: ${attemptWords(last)}` : ''
  const [tone, words] =
    delivery?.state === 'delivered'
      ? ['good', `was delivered${answer}`]
      : delivery?.state === 'failed'
        ? ['bad', `was not taken${answer}`]
        : last
          ? ['bad', `was not taken yet${answer}. It is tried again`]
          : ['', delivery ? 'is on its way…' : 'is on its way: the log says what comes of it']
  return html`<div class=${`notice ${tone}`} role="status" tabindex="-1" ref=${box}>${sentence(`${watched.what} ${words}`)}</div>`
}

const graces = [
  ['0', 'not any more'],
  ['3600', 'for an hour'],
  ['86400', 'for a day'],
  ['604800', 'for a week'],
] as const

const Rotate = ({ onRotate }: { onRotate: (graceSeconds: number) => void }): VNode => {
  const [grace, setGrace] = useState('86400')
  return html`<${Card} title="A new secret">
    <p>Where the secret may have been seen, or is old. While the former one signs too, your receiver can change over at any moment.</p>
    <div class="row"><${Choose} label="The former one signs" value=${grace} options=${graces} onChange=${setGrace} /></div>
    <div class="actions"><${Confirm} isDanger=${false} question=${`A new secret is made; the former one signs ${graces.find(([value]) => value === grace)?.[1]}.`} action="Make it" onYes=${() => onRotate(Number(grace))}>Make a new secret<//></div>
  <//>`
}
