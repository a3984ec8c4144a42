import type { VNode } from 'preact'
import type { AnswerTo, Audited } from '../../../typescript/src/endpoints.js'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Asking, Card, Copyable, Empty, PageHead, Table, When } from '../../components/shown.js'
import { count, inline, moment, records } from '../../components/words.js'
import { Pager } from '../../frame/pager.js'
import { linkTo, type PageProps } from '../../frame/route.js'
import { useAnswer } from '../../frame/use-answer.js'
import { actorWords } from './lists.js'

/** What was done with an organisation's keys, limits and records, and by whom. */
export const AuditPage = ({ query }: PageProps): VNode => {
  const { org: chosen, me } = useSession()
  const cursor = query.get('cursor')
  const isOfAll = me.is_operator && query.get('of') === 'all'
  const [org, of] = isOfAll ? ['*', 'all'] : [chosen, '']
  const base = me.is_operator ? '/v1/operator/audit' : '/v1/audit'
  const verified = useAnswer<'/v1/audit/verification'>(
    cursor ? undefined : `${base}/verification${me.is_operator ? `?${new URLSearchParams({ org })}` : ''}`,
  )
  const asked = useAnswer<'/v1/audit'>(
    `${base}?${new URLSearchParams({ ...(me.is_operator && { org }), limit: '50', ...(cursor && { cursor }) })}`,
  )
  const done = asked.answer?.done
  return html`
    <${PageHead} title="What was done" about=${html`Keys, limits, retries, mended and waiting records, segments, webhooks, exports and erasures of persons, and rules for how long records are kept: ${isOfAll ? 'what concerns every organisation' : html`those of <strong>${org}</strong>`}, the newest first.`}>
      ${me.is_operator && html`<a class="button" href=${linkTo(['audit'], { of: isOfAll ? '' : 'all' })}>${isOfAll ? `Of ${chosen}` : 'Of every organisation'}</a>`}
    <//>
    ${verified.answer && !cursor && html`<${Chain} ...${verified.answer} />`}
    ${verified.problem && html`<p class="notice bad" role="alert">Whether the chain holds cannot be said: ${verified.problem}</p>`}
    <${Asking} ...${asked} has=${done !== undefined} />
    ${done?.length === 0 && html`<${Empty} title="Nothing was done yet.">${!isOfAll && html`<p>Keys that were made before this was kept are not listed.</p>`}<//>`}
    ${
      done &&
      done.length > 0 &&
      html`<${Card}>
      <${Table} label="What was done" isCards head=${html`<th scope="col">When</th><th scope="col">What</th><th scope="col">By</th><th scope="col">Request</th>`}>
        ${done.map(
          (one, index) => html`<tr key=${index}>
          <td><${When} at=${one.at} /></td>
          <td class="text">${wordsOf(one)}${one.redacted && html` <span class="soft">(the id of an erased person was taken out)</span>`}</td>
          <td data-label="by">${actorWords(one.by)}</td>
          <td class="mono small">${one.request_id ?? html`<span class="soft">–</span>`}</td>
        </tr>`,
        )}
      <//>
    <//>`
    }
    <${Pager} path=${['audit']} query=${{ of }} cursor=${cursor} next=${asked.answer?.next_cursor} words=${{ first: 'Newest', next: 'Older' }} />`
}

/** Whether all that is listed still stands as it was written. */
const Chain = ({ holds, entries, from, head, problem }: AnswerTo<'GET /v1/audit/verification'>): VNode | null => {
  if (!holds)
    return html`<p class="notice bad" role="alert"><strong>The chain does not hold.</strong> ${problems[problem?.what ?? 'changed']}${problem?.at && html` The first such entry: ${moment(problem.at)}.`}</p>`
  if (!from || !head) return null
  return html`<p class="notice good">The chain holds: ${count(entries)} ${entries === 1 ? 'entry stands' : 'entries stand'} as written since ${moment(from)}. Its head, to be noted elsewhere: <${Copyable} text=${head} what="the head of the chain" /></p>`
}

const problems = {
  changed: 'An entry is not what it was when it was written.',
  removed: 'Entries are missing, or are others than when they were written.',
  forged: 'An entry was put in later.',
  head_missing: 'The newest entries were cut off.',
} as const

const mended = (type: string, ids: unknown) =>
  Array.isArray(ids) &&
  ids.map((id) => html`<a class="mono small" key=${id} href=${linkTo(['journey', type, String(id)])}>${id}</a> `)

const wordsOf = ({ action, subject, details }: Audited): VNode | string => {
  const { name, was, scopes, key_id, records: some, ...rest } = details as Record<string, unknown>
  const id = html`<span class="mono small">${subject}</span>`
  switch (action) {
    case 'key_issued':
      return html`Key ${id} made${name ? html`, called <strong>${name}</strong>` : ''}; for ${Array.isArray(scopes) ? scopes.join(', ') : 'everything'}`
    case 'key_renamed':
      return html`Key ${id} ${name ? html`called <strong>${name}</strong>` : 'left without a name'}${was ? html` (was ${was})` : ''}`
    case 'key_rotated':
      return html`Key ${id} replaced by <span class="mono small">${key_id}</span>`
    case 'key_revoked':
      return html`Key ${id} revoked`
    case 'segment_set':
      return html`Segment <strong>${subject}</strong> set to <code class="small">${details.condition}</code>`
    case 'segment_dropped':
      return html`Segment <strong>${subject}</strong> dropped`
    case 'webhook_created':
      return html`Webhook ${id} made, to <span class="mono small">${rest.url}</span>`
    case 'webhook_changed':
      return html`Webhook ${id} changed: ${Object.keys(rest).join(', ')}`
    case 'webhook_deleted':
      return html`Webhook ${id} deleted`
    case 'webhook_secret_rotated':
      return html`Webhook ${id} has a new secret`
    case 'webhook_disabled':
      return html`Webhook ${id} disabled: ${rest.reason}`
    case 'person_exported':
      return html`Everything that is kept about the person ${id} exported`
    case 'erasure_asked':
      return html`Erasure ${id} asked for: ${rest.mode}${rest.dry_run ? ', only counting' : ''}`
    case 'erasure_ended':
      return html`Erasure ${id} ended: ${rest.status}${rest.dry_run ? ', only counted' : ''}`
    case 'retention_set':
      return `Records of ${subject} are kept for ${rest.keep}`
    case 'retention_dropped':
      return `The rule for how long records of ${subject} are kept is dropped`
    case 'limits_set':
      return `Limits set: ${Object.entries(rest)
        .map(([limit, value]) => `${limit.replaceAll('_', ' ')} ${value === null ? 'as for everybody' : inline(value)}`)
        .join(', ')}`
    case 'retry_ordered':
      return `${records(Number(some))} submitted again`
    case 'records_mended':
      return html`${records(Number(some))} of ${subject} mended, or sent in place of what was seen: ${mended(subject, rest.ids)}`
    case 'waiting_cancelled':
      return `${records(Number(some))} of ${subject} no longer wait`
    default:
      return `${action satisfies never}`
  }
}
