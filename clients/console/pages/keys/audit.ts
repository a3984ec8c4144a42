import type { VNode } from 'preact'
import type { Audited } from '../../../typescript/src/endpoints.js'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Asking, Card, Empty, PageHead, Table, When } from '../../components/shown.js'
import { inline, records } from '../../components/words.js'
import { Pager } from '../../frame/pager.js'
import { linkTo, type PageProps } from '../../frame/route.js'
import { useAnswer } from '../../frame/use-answer.js'
import { actorWords } from './lists.js'

/** What was done with an organisation's keys, limits and records, and by whom. */
export const AuditPage = ({ query }: PageProps): VNode => {
  const { org, me } = useSession()
  const cursor = query.get('cursor')
  const base = me.is_operator ? '/v1/operator/audit' : '/v1/audit'
  const asked = useAnswer<'/v1/audit'>(
    `${base}?${new URLSearchParams({ ...(me.is_operator && { org }), limit: '50', ...(cursor && { cursor }) })}`,
  )
  const done = asked.answer?.done
  return html`
    <${PageHead} title="What was done" about=${html`With keys, limits, retries, mended and waiting records of <strong>${org}</strong>; newest first.`} />
    <${Asking} ...${asked} has=${done !== undefined} />
    ${done?.length === 0 && html`<${Empty} title="Nothing was done yet." ><p>Keys that were made before this was kept are not listed.</p><//>`}
    ${
      done &&
      done.length > 0 &&
      html`<${Card}>
      <${Table} label="What was done" isCards head=${html`<th scope="col">When</th><th scope="col">What</th><th scope="col">By</th><th scope="col">Request</th>`}>
        ${done.map(
          (one, index) => html`<tr key=${index}>
          <td><${When} at=${one.at} /></td>
          <td class="text">${wordsOf(one)}</td>
          <td data-label="by">${actorWords(one.by)}</td>
          <td class="mono small">${one.request_id ?? html`<span class="soft">–</span>`}</td>
        </tr>`,
        )}
      <//>
    <//>`
    }
    <${Pager} path=${['audit']} cursor=${cursor} next=${asked.answer?.next_cursor} words=${{ first: 'Newest', next: 'Older' }} />`
}

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
      return html`Erasure ${id} ended: ${rest.status}`
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
