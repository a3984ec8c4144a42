import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { AnswerTo, GroupState, OrganisationFigures } from '../../typescript/src/endpoints.js'
import { html } from '../components/html.js'
import { Asking, Badge, Card, Choose, Empty, PageHead, Table, When } from '../components/shown.js'
import { bytes, count, sentence } from '../components/words.js'
import { Pager } from '../frame/pager.js'
import { choiceIn, goTo, linkTo, orgIn, type PageProps } from '../frame/route.js'
import { useAnswer } from '../frame/use-answer.js'

const spans = [
  ['1', 'last hour'],
  ['24', 'last 24 hours'],
  ['168', 'last 7 days'],
  ['720', 'last 30 days'],
] as const

/** For operators: what each organisation sends, and how the parts of the system are. */
export const OrganisationsPage = ({ query }: PageProps): VNode => {
  const hours = choiceIn(
    query,
    'hours',
    spans.map(([each]) => each),
    '24',
  )
  const prefix = orgIn(query, 'prefix') ?? ''
  const cursor = query.get('cursor')
  const asked = useAnswer<'/v1/operator/figures'>(
    `/v1/operator/figures?${new URLSearchParams({ hours, limit: '50', ...(prefix && { prefix }), ...(cursor && { cursor }) })}`,
  )
  const { all, organisations } = asked.answer ?? {}
  const choose = (change: Record<string, string>) => goTo(linkTo(['organisations'], { hours, prefix, ...change }))
  return html`
    <${PageHead} title="Organisations" about=${all ? html`${count(all.organisations)} organisations: ${count(all.accepted)} records accepted, ${count(all.refused)} refused, ${count(all.waiting)} wait.` : 'What each of them sends, the most first.'}>
      <${Prefix} key=${prefix} prefix=${prefix} onChoose=${(chosen: string) => choose({ prefix: chosen })} />
      <${Choose} label="Time" value=${hours} onChange=${(chosen: string) => choose({ hours: chosen })} options=${spans} />
    <//>
    <${Asking} ...${asked} has=${organisations !== undefined} />
    ${organisations?.length === 0 && html`<${Empty} title=${prefix ? `No organisation's id begins with ${prefix}.` : 'There is no organisation yet.'} />`}
    ${organisations && organisations.length > 0 && html`<${Card}><${Figures} organisations=${organisations} /><//>`}
    <${Pager} path=${['organisations']} query=${{ hours, prefix }} cursor=${cursor} next=${asked.answer?.next_cursor} words=${{ first: 'Most', next: 'Less' }} />
    <${SystemParts} />`
}

const Prefix = ({ prefix, onChoose }: { prefix: string; onChoose: (prefix: string) => void }): VNode => {
  const [text, setText] = useState(prefix)
  const submit = (event: Event) => {
    event.preventDefault()
    onChoose(text.trim().toLowerCase())
  }
  return html`<form class="rename" role="search" onSubmit=${submit}>
    <input class="rename-to" type="search" aria-label="Id of the organisation begins with" placeholder="id begins with …" maxlength="63" spellcheck=${false} value=${text} onInput=${(event: Event) => setText((event.target as HTMLInputElement).value)} />
    <button type="submit">Find</button>
  </form>`
}

const Figures = ({ organisations }: { organisations: readonly OrganisationFigures[] }): VNode => html`
  <${Table} label="Organisations" isCards head=${html`<th scope="col">Organisation</th><th scope="col" class="number">Accepted</th><th scope="col" class="number">Refused</th><th scope="col" class="number">Share refused</th><th scope="col" class="number">Waiting now</th><th scope="col" class="number">Over the limit</th><th scope="col">Limits a second</th><th scope="col" class="number">Lag</th><th scope="col" class="number">Keys</th>`}>
    ${organisations.map((one) => {
      const sent = one.accepted + one.refused
      return html`<tr key=${one.org}>
        <td><a href=${linkTo(['overview'], { org: one.org })}>${one.org}</a></td>
        <td class="number accepted" data-label="accepted">${count(one.accepted)}</td>
        <td class=${one.refused > 0 ? 'number refused' : 'number soft'} data-label="refused">${count(one.refused)}</td>
        <td class="number" data-label="share refused">${sent > 0 ? `${((one.refused / sent) * 100).toFixed(1)} %` : '–'}</td>
        <td class=${one.waiting > 0 ? 'number waiting' : 'number soft'} data-label="waiting">${count(one.waiting)}${one.oldest_wait && html` <span class="soft small">since <${When} at=${one.oldest_wait} /></span>`}</td>
        <td class=${one.limited > 0 ? 'number refused' : 'number soft'} data-label="over the limit">${count(one.limited)}</td>
        <td class="small" data-label="limits"><a href=${linkTo(['keys'], { org: one.org })}>${limitsOf(one)}</a></td>
        <td class="number" data-label="lag">${one.lag_seconds.toFixed(1)} s</td>
        <td class="number" data-label="keys">${count(one.active_keys)}</td>
      </tr>`
    })}
  <//>
  <p class="soft small">Over the limit are requests that were answered 429, by all edges. Lag is how long the oldest batch has been undecided.</p>`

const limitsOf = ({ requests_per_second, records_per_second }: OrganisationFigures): string => {
  const words = (limit: number | null) => (limit === null ? 'default' : limit === 0 ? 'none' : count(limit))
  if (requests_per_second === null && records_per_second === null) return 'default'
  return `${words(requests_per_second)} requests, ${words(records_per_second)} records`
}

type SystemAnswer = AnswerTo<'GET /v1/operator/system'>

/** The parts of the system: whether they work, what they take on their disks, and how far those are behind who read the topics. */
const SystemParts = (): VNode => {
  const asked = useAnswer<'/v1/operator/system'>('/v1/operator/system', { every: 10_000 })
  const system = asked.answer
  return html`
    <${Asking} ...${asked} has=${system !== undefined} />
    ${system && html`<${Card} title="Parts"><${Parts} ...${system} /><//><${Card} title="Who reads the topics"><${Groups} groups=${system.groups} /><//>`}`
}

const Parts = ({ parts, storage }: SystemAnswer): VNode => html`
  <${Table} label="Parts" isCards head=${html`<th scope="col">Part</th><th scope="col">State</th><th scope="col" class="number">Taken by Weir</th><th scope="col" class="number">Free</th><th scope="col"><span class="hidden">What is wrong, or not known</span></th>`}>
    ${parts.map(({ name, ok, problem }) => {
      const disk = storage.find(({ part }) => part === name)
      const words = problem ?? disk?.problem
      return html`<tr key=${name}>
        <td>${name}</td>
        <td><${Badge} state=${ok ? 'active' : 'refused'} words=${ok ? 'works' : 'does not work'} /></td>
        <td class="number" data-label="taken">${sizeOf(disk?.used_bytes)}</td>
        <td class="number" data-label="free">${sizeOf(disk?.free_bytes)}</td>
        <td class="text small">${words && sentence(words)}</td>
      </tr>`
    })}
  <//>`

const Groups = ({ groups }: Pick<SystemAnswer, 'groups'>): VNode => {
  if (groups === null) return html`<p class="soft">Kafka does not tell at the moment.</p>`
  if (groups.length === 0) return html`<p class="soft">Kafka shows no group to the edge.</p>`
  return html`
    <${Table} label="Who reads the topics" isCards head=${html`<th scope="col">Group</th><th scope="col">State</th><th scope="col" class="number">Members</th><th scope="col" class="number">Messages behind</th><th scope="col">Topics</th>`}>
      ${groups.map(
        ({ group, state, members, lag, topics }) => html`<tr key=${group}>
        <td><span class="mono small">${group}</span></td>
        <td><${Badge} state=${members > 0 ? 'active' : 'expired'} words=${state} /></td>
        <td class="number" data-label="members">${count(members)}</td>
        <td class=${lag > 0 ? 'number waiting' : 'number soft'} data-label="behind">${count(lag)}</td>
        <td class="text small">${behindIn(topics)}</td>
      </tr>`,
      )}
    <//>`
}

const behindIn = (topics: GroupState['topics']): string => {
  const behind = topics.filter(({ lag }) => lag > 0).sort((a, b) => b.lag - a.lag)
  return (
    behind.map(({ topic, lag }) => `${topic} ${count(lag)}`).join(', ') ||
    `${topics.length === 1 ? '1 topic' : `${count(topics.length)} topics`}, all read`
  )
}

const sizeOf = (number: number | null | undefined): string => (typeof number === 'number' ? bytes(number) : '–')
