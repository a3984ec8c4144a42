import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Rejection } from '../../../typescript/src/endpoints.js'
import { may, useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Asking, Badge, Empty, Json, PageHead, Problems, When } from '../../components/shown.js'
import { codeWords, count, sentence } from '../../components/words.js'
import { Pager } from '../../frame/pager.js'
import { choiceIn, goTo, linkTo, type PageProps } from '../../frame/route.js'
import { useAnswer } from '../../frame/use-answer.js'
import { saveGroup } from './as-csv.js'
import { ChangeValue } from './change.js'
import { MendRefused } from './mend.js'
import { type GroupFilter, RetryGroup } from './retry.js'
import { ChooseState, refreshEvery, stateNames } from './state.js'

/** The refused records of one group: to look at, to mend, and to have tried again once the reason is gone. */
export const RefusedGroupPage = ({ query }: PageProps): VNode => {
  const named = ['type', 'code', 'field', 'since', 'request_id'] as const
  const group: GroupFilter = Object.fromEntries(
    named.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])),
  )
  const state = choiceIn(query, 'state', stateNames, 'open')
  const filter: GroupFilter = { ...group, ...(state !== 'all' && { state }) }
  const cursor = query.get('cursor')
  const [mending, setMending] = useState<readonly string[]>([])
  const path = `/v1/rejections?${new URLSearchParams({ ...filter, ...(cursor && { cursor }), limit: '20' })}`
  // A record that somebody is mending stays where it is.
  const asked = useAnswer<'/v1/rejections'>(path, mending.length === 0 ? { every: refreshEvery } : {})
  const shown = asked.answer?.rejections ?? []
  const onMending = (id: string, isOpen: boolean) =>
    setMending((before) => [...before.filter((each) => each !== id), ...(isOpen ? [id] : [])])
  const { type, field } = filter
  return html`
    <p class="small"><a href=${linkTo(['rejected'], { type, state })}>Rejected</a></p>
    <${PageHead} title=${[type, filter.code && codeWords(filter.code)].filter(Boolean).join(': ') || 'Refused records'} about=${aboutGroup(filter)}>
      <${ChooseState} state=${state} onChange=${(chosen: string) => goTo(linkTo(['rejected', 'group'], { ...group, state: chosen }))} />
      <${SaveGroup} key=${path} filter=${filter} />
      <button type="button" onClick=${asked.reload}>Refresh</button>
    <//>
    ${type && field && html`<${ChangeValue} key=${`${type} ${field}`} filter=${{ ...group, type, field }} onDone=${asked.reload} />`}
    <${RetryGroup} filter=${group} onDone=${asked.reload} />
    <${Asking} ...${asked} has=${shown.length > 0} />
    ${asked.answer && shown.length === 0 && html`<${Empty} title=${state === 'open' ? 'Nothing of this group is left to do.' : 'No refused record of this group is in this state.'}><p><a href=${linkTo(['rejected', 'group'], { ...group, state: 'all' })}>Show all of the group</a> · <a href=${linkTo(['rejected'])}>Back to what is open</a></p><//>`}
    ${shown.map((one) => html`<${Refusal} key=${one.rejection_id} one=${one} onSent=${asked.reload} onMending=${onMending} />`)}
    <${Pager} path=${['rejected', 'group']} query=${{ ...group, state }} cursor=${cursor} next=${asked.answer?.next_cursor} words=${{ first: 'Newest', next: 'Older' }} />`
}

const aboutGroup = ({ field, request_id }: GroupFilter) =>
  (field || request_id) &&
  html`${field && html`The field is <code>${field}</code>. `}${request_id && html`Of <a href=${linkTo(['requests', request_id])}>one request</a>.`}`

/** All records of the group as a file, however many pages that takes. */
const SaveGroup = ({ filter }: { filter: GroupFilter }): VNode => {
  const { ask, types } = useSession()
  const [progress, setProgress] = useState<number>()
  const [problem, setProblem] = useState<string>()
  const type = types.find((each) => each.type === filter.type)
  const start = async () => {
    setProblem(undefined)
    setProgress(0)
    await saveGroup(ask, filter, type, setProgress).catch((error: Error) => setProblem(error.message))
    setProgress(undefined)
  }
  return html`
    <button type="button" disabled=${progress !== undefined} onClick=${start}>${progress === undefined ? `Save as ${type ? 'CSV' : 'NDJSON'}` : `${count(progress)} read…`}</button>
    ${problem && html`<p class="notice bad" role="alert">${sentence(problem)}</p>`}`
}

type RefusalProps = { one: Rejection; onSent: () => void; onMending: (id: string, isOpen: boolean) => void }

const Refusal = ({ one, onSent, onMending }: RefusalProps): VNode => {
  const { types, me, org } = useSession()
  const [isOpen, setOpen] = useState(false)
  const type = types.find((each) => each.type === one.type)
  const isWhole = !one.truncated && typeof one.record === 'object' && one.record !== null
  const canMend = type && isWhole && org === me.org_id && may(me, `${one.type}:write`)
  const open = (now: boolean) => {
    setOpen(now)
    onMending(one.rejection_id, now)
  }
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
          ? html`<${MendRefused} type=${type} one=${one} onSent=${onSent} onClose=${() => open(false)} />`
          : html`<details><summary>The record</summary><${Json} value=${one.record} label="The record as it was sent" /></details>
            ${canMend ? html`<div class="actions"><button type="button" onClick=${() => open(true)}>Mend it</button></div>` : html`<p class="soft small">${whyNot(one, isWhole, type !== undefined, org === me.org_id)}</p>`}`
      }
    </div>`
}

/** Why a record cannot be mended here, and where it can. */
const whyNot = ({ type }: Rejection, isWhole: boolean, isKnown: boolean, isOwn: boolean) => {
  if (!isWhole || !isKnown)
    return html`It was too large to be kept whole, or could not be read, so it cannot be mended here: mend it where it came from, and <a href=${linkTo(['upload'], { type })}>upload it again</a>.`
  if (!isOwn)
    return 'Records of another organisation are mended with a key of theirs; weir rejected retry submits them as they are.'
  return `This key may not write ${type}: a key with the scope ${type}:write can mend it.`
}

const stateWords: Record<string, string> = {
  open: 'open',
  retried: 'tried again',
  accepted_since: 'accepted since',
  overtaken: 'a later one came, and was refused too or waits',
}
