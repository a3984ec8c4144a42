import type { VNode } from 'preact'
import type { Webhook } from '../../../typescript/src/endpoints.js'
import { html } from '../../components/html.js'
import { Badge, When } from '../../components/shown.js'
import { sentence } from '../../components/words.js'

/** What each event of a webhook means, in a sentence. */
export const eventWords: Record<Webhook['events'][number], string> = {
  'records.accepted': 'Records were accepted: all that is in them, up to 200 in one delivery.',
  'request.completed': 'An upload is decided: how many of its records were accepted, were refused or wait.',
  'rejections.digest': 'Records were refused: how many and why, with examples, every few minutes at most.',
  'waiting.expired': 'Records waited in vain for others that did not come.',
  'person.erased': 'A person was erased, and the receiver is to erase what it has.',
}

/** How a webhook is, in words. */
export const WebhookState = ({
  of: { enabled, disabled_at, disabled_reason, failing_since },
}: {
  of: Webhook
}): VNode => {
  if (!enabled)
    return html`<${Badge} state="disabled" /> <span class="soft small"><${When} at=${disabled_at} />${disabled_reason && `: ${sentence(disabled_reason).replace(/\.$/, '')}`}</span>`
  if (failing_since)
    return html`<${Badge} state="failing" /> <span class="soft small">since <${When} at=${failing_since} /></span>`
  return html`<${Badge} state="enabled" />`
}

/** How soon to look again, in milliseconds: not at all where nothing is on its way. A receiver that fails is tried ever more seldom. */
export const lookAgainAfter = (webhook: Webhook | undefined, isPending: boolean): { every?: number } => {
  if (!webhook?.enabled || !isPending) return {}
  return { every: webhook.failing_since ? 5_000 : 1_000 }
}
