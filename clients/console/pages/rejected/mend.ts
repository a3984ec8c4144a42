import type { Rejection, TypeReference } from '../../../typescript/src/endpoints.js'
import { type RecordProblem, WeirError } from '../../../typescript/src/index.js'
import { comesAlone, useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { RecordForm } from '../../components/record-form.js'
import { sentence } from '../../components/words.js'
import { linkTo } from '../../frame/route.js'
import { useState } from '../../vendor/hooks.js'
import type { VNode } from '../../vendor/preact.js'

type MendProps = { type: TypeReference; one: Rejection; onSent: () => void; onClose: () => void }

/** One refused record in a form made from the catalogue; sent like any other upload. */
export const MendRefused = ({ type, one, onSent, onClose }: MendProps): VNode => {
  const { weir } = useSession()
  const [problems, setProblems] = useState<readonly RecordProblem[]>(one.problems)
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()
  const [accepted, setAccepted] = useState<{ id: string; requestId?: string }>()

  const send = async (record: Record<string, unknown>) => {
    setBusy(true)
    setFailure(undefined)
    try {
      if (comesAlone(type)) {
        const { interaction_id } = await weir.interactions.record(record as never, { giveUpAfterMs: 60_000 })
        setAccepted({ id: interaction_id })
      } else {
        const { requestId, refused } = await weir.of(type.type).send([record], { giveUpAfterMs: 60_000 })
        if (refused[0]) setProblems(refused[0].problems)
        else setAccepted({ id: String(record[type.id]), requestId })
      }
    } catch (error) {
      if (error instanceof WeirError && error.problems.length > 0) setProblems(error.problems)
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
    ${failure && html`<p class="notice bad" role="alert">${sentence(failure)}</p>`}
    <div role="status">${!isBusy && problems !== one.problems && html`<p class="notice bad">It was refused again: see the fields in red.</p>`}</div>
    <${RecordForm} type=${type} record=${one.record as Record<string, unknown>} problems=${problems} isBusy=${isBusy} onSend=${send} onLeave=${onClose} />`
}
