import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Rejection, TypeReference } from '../../../typescript/src/endpoints.js'
import { type RecordProblem, type VersionConflict, WeirError } from '../../../typescript/src/index.js'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { RecordForm } from '../../components/record-form.js'
import { Table, When } from '../../components/shown.js'
import { inline, sentence } from '../../components/words.js'
import { linkTo } from '../../frame/route.js'

type MendProps = { type: TypeReference; one: Rejection; onSent: () => void; onClose: () => void }

/** One refused record in a form made from the catalogue; sent like any other upload, unless it would replace something unseen. */
export const MendRefused = ({ type, one, onSent, onClose }: MendProps): VNode => {
  const { weir } = useSession()
  // What it was refused for when it was sent from here.
  const [again, setAgain] = useState<readonly RecordProblem[]>()
  const problems = again ?? one.problems
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const [conflict, setConflict] = useState<VersionConflict & { record: Record<string, unknown> }>()
  const [accepted, setAccepted] = useState<{ id: string; requestId?: string }>()

  const send = async (record: Record<string, unknown>, version = seenVersion(one, record[type.id])) => {
    setBusy(true)
    setFailure(undefined)
    setConflict(undefined)
    try {
      // By itself, because the answer then tells the id that the service gives it.
      if (!type.fields.some(({ name }) => name === type.id)) {
        const { interaction_id } = await weir.interactions.record(record as never, { giveUpAfterMs: 60_000 })
        setAccepted({ id: interaction_id })
      } else {
        const options = { ifVersion: [version], giveUpAfterMs: 60_000 }
        const { requestId, refused } = await weir.of(type.type).send([record], options)
        if (refused[0]) setAgain(refused[0].problems)
        else setAccepted({ id: String(record[type.id]), requestId })
      }
    } catch (error) {
      if (error instanceof WeirError && error.conflicts[0]) setConflict({ ...error.conflicts[0], record })
      else if (error instanceof WeirError && error.problems.length > 0) setAgain(error.problems)
      else setFailure((error as Error).message)
    }
    setBusy(false)
  }
  if (accepted)
    return html`<div class="notice good" role="status">Accepted. <a href=${linkTo(['journey', type.type, accepted.id])}>Its journey</a>${accepted.requestId && html` · <a href=${linkTo(['requests', accepted.requestId])}>The request</a>`} <button type="button" onClick=${() => {
      onClose()
      onSent()
    }}>Close</button></div>`
  return html`
    ${one.state === 'accepted_since' && !conflict && html`<p class="notice">A newer record of this id was accepted since. Before this one takes its place, you see both.</p>`}
    ${failure && html`<p class="notice bad" role="alert">${sentence(failure)}</p>`}
    <div role="status">${!isBusy && again && html`<p class="notice bad">It was refused again: see the fields in red.</p>`}</div>
    ${conflict && html`<${Both} conflict=${conflict} isBusy=${isBusy} onOverwrite=${() => send(conflict.record, conflict.current?.version ?? null)} onLeave=${onClose} />`}
    <${RecordForm} type=${type} record=${one.record as Record<string, unknown>} problems=${problems} isBusy=${isBusy} onSend=${send} onLeave=${onClose} />`
}

/** The version that whoever looks at a refusal knows of: what came after the refusal is not shown beside it. */
const seenVersion = ({ id, state, current_version }: Rejection, sentId: unknown): number | null =>
  (state === 'open' || state === 'overtaken') && sentId === id ? current_version : null

type BothProps = { conflict: VersionConflict; isBusy: boolean; onOverwrite: () => void; onLeave: () => void }

/** What is in use now beside what was to be sent, field by field. */
const Both = ({ conflict: { current, sent }, isBusy, onOverwrite, onLeave }: BothProps): VNode => {
  const now = current?.record ?? {}
  const names = [...new Set([...Object.keys(now), ...Object.keys(sent)])]
  const shown = (record: Record<string, unknown>, name: string) => (name in record ? inline(record[name]) : '')
  return html`
    <div class="notice bad" role="alert">
      <p>${current ? html`Nothing was sent: another record of this id was accepted <${When} at=${current.accepted_at} />.` : 'Nothing was sent: the record that you have seen is not there any more.'}</p>
      <${Table} label="What is in use now, and what you would send" head=${html`<th scope="col">Field</th><th scope="col">In use now</th><th scope="col">Yours</th>`}>
        ${names.map((name) => {
          const differs = shown(now, name) !== shown(sent, name)
          return html`<tr key=${name}><th scope="row"><code>${name}</code></th><td>${shown(now, name)}</td><td class=${differs ? 'refused' : ''}>${shown(sent, name)}${differs && html`<span class="hidden"> (differs)</span>`}</td></tr>`
        })}
      <//>
      <div class="actions"><button type="button" class="danger" disabled=${isBusy} onClick=${onOverwrite}>Overwrite it with yours</button> <button type="button" onClick=${onLeave}>Keep what is in use</button></div>
    </div>`
}
