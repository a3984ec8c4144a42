import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Erasure } from '../../../typescript/src/endpoints.js'
import { useSession, wordsOf } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Card, Confirm, Table } from '../../components/shown.js'
import { count, sentence } from '../../components/words.js'
import { modeWords, totalOf } from './list.js'

type Mode = Erasure['mode']
type Found = NonNullable<Erasure['found']>

/** Has a person forgotten: what names the person is counted first, and then somebody says yes to exactly that. */
export const ForgetPerson = ({
  onCounted,
  onAsked,
}: {
  onCounted: () => void
  onAsked: (words: string) => void
}): VNode => {
  const { weir } = useSession()
  const [id, setId] = useState('')
  const [mode, setMode] = useState<Mode>('erase')
  const [afterwards, setAfterwards] = useState<Erasure['afterwards']>('refuse')
  const [step, setStep] = useState<string>()
  const [found, setFound] = useState<Found>()
  const [problem, setProblem] = useState<string>()
  const [isAsking, setAsking] = useState(false)
  const ending = useRef(new AbortController())
  useEffect(() => () => ending.current.abort(), [])
  const person = id.trim()
  const isBusy = step !== undefined || isAsking

  /** What was counted is about one person and one mode. */
  const change = (work: () => void) => {
    setFound(undefined)
    setProblem(undefined)
    work()
  }
  const countFirst = async (event: Event) => {
    event.preventDefault()
    change(() => setStep('asked'))
    const { signal } = ending.current
    try {
      const { erasure_id } = await weir.erasures.ask(person, { mode, dryRun: true, afterwards }, { signal })
      onCounted()
      const onStep = (now: Erasure) => setStep(now.step)
      const counted = await weir.erasures.untilDone(erasure_id, { everyMs: 1_000, onStep, signal })
      setFound(counted.found ?? [])
    } catch (error) {
      if (signal.aborted) return
      setProblem(wordsOf(error))
    }
    setStep(undefined)
    onCounted()
  }
  const forget = async () => {
    setAsking(true)
    setProblem(undefined)
    try {
      await weir.erasures.ask(person, { mode, afterwards }, { signal: ending.current.signal })
      setId('')
      setFound(undefined)
      onAsked('It is asked for. It takes a minute or more; below you see how far it is, and then its proof.')
    } catch (error) {
      if (ending.current.signal.aborted) return
      setProblem(wordsOf(error))
    }
    setAsking(false)
  }
  const choice = (each: Mode) =>
    html`<label key=${each} class="check"><input type="radio" name="mode" checked=${mode === each} disabled=${isBusy} onChange=${() => change(() => setMode(each))} /> <span>${modeWords[each].title} <span class="soft small">${modeWords[each].about}</span></span></label>`
  return html`<${Card} title="Forget a person">
    <form onSubmit=${countFirst}>
      <label for="forget-person">Id</label>
      <input id="forget-person" type="text" value=${id} required maxlength="1000" spellcheck=${false} autocomplete="off" placeholder="customer_id, student_id or user_id" disabled=${isBusy} onInput=${(event: Event) => change(() => setId((event.target as HTMLInputElement).value))} />
      <label for="forget-later">Later uploads that name the person</label>
      <select id="forget-later" value=${afterwards} disabled=${isBusy} onChange=${(event: Event) => change(() => setAfterwards((event.target as HTMLSelectElement).value as Erasure['afterwards']))}>
        ${ways.map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}
      </select>
      <fieldset><legend>What becomes of the records</legend>${(['erase', 'pseudonymise'] as const).map(choice)}</fieldset>
      <div role="status">${step !== undefined && html`<p class="soft">Counting: ${step}…</p>`}</div>
      ${problem && html`<p class="notice bad" role="alert">${sentence(problem)}</p>`}
      ${found === undefined && html`<div class="actions"><button class="primary" type="submit" disabled=${isBusy || person === ''}>Count what there is</button></div>`}
    </form>
    ${found && html`<${Counted} found=${found} person=${person} mode=${mode} afterwards=${afterwards} isBusy=${isAsking} onYes=${forget} />`}
  <//>`
}

const ways = [
  ['refuse', 'are refused'],
  ['new', 'are taken, as those of somebody new'],
] as const

type CountedProps = {
  found: Found
  person: string
  mode: Mode
  afterwards: Erasure['afterwards']
  isBusy: boolean
  onYes: () => void
}

/** What would go, and the question whether it is to. It takes the focus, since it stands where the button was. */
const Counted = ({ found, person, mode, afterwards, isBusy, onYes }: CountedProps): VNode => {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => box.current?.focus(), [])
  const what = found.length === 0 ? 'Nothing names this person now.' : `${totalOf(found)} this person.`
  const later = afterwards === 'refuse' ? 'Later uploads that do are refused.' : 'Later uploads that do are taken.'
  return html`<div class="notice" role="group" aria-label="What was counted" tabindex="-1" ref=${box}>
    <p><strong>${what}</strong> ${modeWords[mode].about} ${later} Copies that others have made stay: of subscribers, in backups and in files.</p>
    ${
      found.length > 0 &&
      html`<${Table} label="What names the person" hasCsv=${false} head=${html`<th scope="col">Where</th><th scope="col" class="number">Count</th>`}>
      ${found.map((each) => html`<tr key=${each.where}><td class="mono small">${each.where}</td><td class="number">${count(each.count)}</td></tr>`)}
    <//>`
    }
    <div class="actions">
      ${isBusy ? html`<p class="soft" role="status">Asking…</p>` : html`<${Confirm} question=${html`Forget <strong class="mono">${person}</strong> for good? ${sentence(what)} Nothing brings back what goes.`} action="Forget this person" onYes=${onYes}>Forget the person<//>`}
    </div>
  </div>`
}
