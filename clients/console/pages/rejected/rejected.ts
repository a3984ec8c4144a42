import type { VNode } from 'preact'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Asking, Card, Choose, Empty, PageHead, Table, When } from '../../components/shown.js'
import { codeWords, count } from '../../components/words.js'
import { choiceIn, goTo, linkTo, type PageProps } from '../../frame/route.js'
import { useAnswer } from '../../frame/use-answer.js'
import { ChooseState, refreshEvery, stateNames } from './state.js'

/** What is wrong with how many records, the largest group first. */
export const RejectedPage = ({ query }: PageProps): VNode => {
  const { types } = useSession()
  const type = choiceIn(
    query,
    'type',
    types.map((each) => each.type),
  )
  const since = choiceIn(
    query,
    'since',
    periods.map(([days]) => days),
    '7',
  )
  const state = choiceIn(query, 'state', stateNames, 'open')
  const from = since === 'all' ? undefined : startOfDay(Number(since))
  const filter = new URLSearchParams({
    ...(type && { type }),
    ...(from && { since: from }),
    ...(state !== 'all' && { state }),
  }).toString()
  const asked = useAnswer<'/v1/rejections/summary'>(`/v1/rejections/summary${filter && `?${filter}`}`, {
    every: refreshEvery,
  })
  const groups = asked.answer?.groups
  const wasRefused = Object.values(asked.answer?.states ?? {}).some((number) => number !== 0)
  const choose = (change: Record<string, string>) => goTo(linkTo(['rejected'], { type, since, state, ...change }))
  return html`
    <${PageHead} title="Rejected" about="Refused records, grouped by what is wrong with them. Open a group to mend one, or to have all of it tried again.">
      <${Choose} label="Type" value=${type} onChange=${(chosen: string) => choose({ type: chosen })} options=${[['', 'all'], ...types.map((each) => [each.type, each.type])]} />
      <${Choose} label="Since" value=${since} onChange=${(chosen: string) => choose({ since: chosen })} options=${periods} />
      <${ChooseState} state=${state} counts=${asked.answer?.states} onChange=${(chosen: string) => choose({ state: chosen })} />
      <button type="button" onClick=${asked.reload}>Refresh</button>
    <//>
    <${Asking} ...${asked} has=${groups !== undefined} />
    ${groups?.length === 0 && wasRefused && html`<${Empty} title=${state === 'open' ? 'Nothing is left to do about what was refused in this time.' : 'Nothing refused in this time is in this state.'}><p><a href=${linkTo(['rejected'], { type, since, state: 'all' })}>Show all that was refused</a></p><//>`}
    ${groups?.length === 0 && !wasRefused && html`<${Empty} title="Nothing was refused in this time."><p>What is refused from now on shows up here by itself. To see how it looks, <a href=${linkTo(['upload'])}>upload</a> a template with a wrong value in it, or the sample files that the uploader makes (at <a href="/downloads/">downloads</a>).</p><//>`}
    ${
      groups &&
      groups.length > 0 &&
      html`
      <${Card}>
        <${Table} label="Groups of refused records" isCards head=${html`<th scope="col">What is wrong</th><th scope="col">Type</th><th scope="col">Field</th><th scope="col" class="number">Records</th><th scope="col">Last</th><th scope="col">Such as</th>`}>
          ${groups.map(
            (group) => html`<tr key=${`${group.type} ${group.code} ${group.field}`}>
            <td><a href=${linkTo(['rejected', 'group'], { type: group.type, code: group.code, field: group.field, since: from, state })}>${codeWords(group.code)}</a></td>
            <td>${group.type}</td>
            <td>${group.field ? html`<code>${group.field}</code>` : html`<span class="soft">the record</span>`}</td>
            <td class="number refused" data-label="records">${count(group.count)}</td>
            <td data-label="last"><${When} at=${group.last_seen} /></td>
            <td class="text">${group.sample?.message}</td>
          </tr>`,
          )}
        <//>
        ${!asked.answer?.complete && html`<p class="soft">Only the 500 largest groups are shown.</p>`}
      <//>`
    }`
}

const periods = [
  ['1', '1 day'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['all', 'ever'],
] as const

/** The beginning of the day (UTC) that was this many days ago: the same address for the whole day. */
const startOfDay = (days: number): string =>
  `${new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`
