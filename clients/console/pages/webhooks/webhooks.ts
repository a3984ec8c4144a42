import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { AnswerTo } from '../../../typescript/src/endpoints.js'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { type JustDone, WhatWasDone } from '../../components/just-done.js'
import { Asking, Card, Empty, PageHead, Table, When } from '../../components/shown.js'
import { linkTo } from '../../frame/route.js'
import { useAnswer } from '../../frame/use-answer.js'
import { type WantedWebhook, WebhookForm } from './form.js'
import { ReceiverToCopy } from './receiver.js'
import { lookAgainAfter, WebhookState } from './state.js'

/** An organisation's webhooks with their states, and a form for a new one. */
export const WebhooksPage = (): VNode => {
  const { ask, org, me } = useSession()
  const [again, setAgain] = useState<{ every?: number }>({})
  const asked = useAnswer<'/v1/webhooks'>('/v1/webhooks', again)
  const [done, setDone] = useState<JustDone>()
  const webhooks = asked.answer?.webhooks
  useEffect(() => {
    const soonest = (webhooks ?? []).map((each) => lookAgainAfter(each, each.waiting_since !== null))
    setAgain(soonest.some(({ every }) => every) ? { every: 5_000 } : {})
  }, [webhooks])

  const create = async (wanted: WantedWebhook) => {
    const { secret } = await ask<AnswerTo<'POST /v1/webhooks'>>('/v1/webhooks', { method: 'POST', body: wanted })
    setDone({
      words: `A webhook to ${wanted.url} is made.`,
      secret: {
        about:
          'Its secret is shown this once: copy it now. With it your receiver sees that a delivery comes from here.',
        text: secret,
        label: 'The secret',
      },
    })
    asked.reload()
  }
  return html`
    <${PageHead} title="Webhooks" about=${html`Addresses of <strong>${org}</strong> that are told of what happens: signed, tried again until it is taken, and kept in a log.`}>
      <button type="button" onClick=${asked.reload}>Refresh</button>
    <//>
    ${done && html`<${WhatWasDone} done=${done} onSeen=${() => setDone(undefined)} />`}
    <${Asking} ...${asked} has=${webhooks !== undefined} />
    ${
      webhooks?.length === 0 &&
      html`<${Empty} title="There is no webhook yet." command=${`weir webhooks create --org ${org} --url https://example.com/weir`}>
      <p>A webhook is an address of a program of yours. Weir posts to it what happens: records that were accepted, uploads that are decided, what was refused. So the program need not ask again and again. Make one below, <a href="/docs#/feeds/create-webhook">over HTTP</a>, or have an operator do it:</p><//>`
    }
    ${
      webhooks &&
      webhooks.length > 0 &&
      html`<${Card}>
      <${Table} label="Webhooks" isCards head=${html`<th scope="col">Address</th><th scope="col">State</th><th scope="col">Told of</th><th scope="col">Made</th>`}>
        ${webhooks.map(
          (each) => html`<tr key=${each.webhook_id}>
          <td class="text"><a href=${linkTo(['webhooks', each.webhook_id])}>${each.url}</a></td>
          <td class="text"><${WebhookState} of=${each} /></td>
          <td class="small">${each.events.map((event) => html`<div key=${event}><code>${event}</code></div>`)}</td>
          <td data-label="made"><${When} at=${each.created_at} /></td>
        </tr>`,
        )}
      <//>
    <//>`
    }
    <div class="two">
      ${
        org === me.org_id
          ? html`<${WebhookForm} title="Make a webhook" action="Make the webhook" onSave=${create} />`
          : html`<${Card} title="Make a webhook"><p>Webhooks of another organisation are made and changed with a key of theirs, or by <code>weir webhooks</code> on the server.</p><//>`
      }
      <${ReceiverToCopy} />
    </div>`
}
