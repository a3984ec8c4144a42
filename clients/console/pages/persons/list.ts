import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import type { Erasure, ErasureWithProof } from '../../../typescript/src/endpoints.js'
import { useSession, wordsOf } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Asking, Badge, Card, Copyable, Empty, Name, Table, When } from '../../components/shown.js'
import { count, sentence } from '../../components/words.js'
import type { PageAnswer } from '../../frame/use-answer.js'
import { save } from '../../rows/refused-file.js'

export const modeWords: Record<Erasure['mode'], { title: string; about: string }> = {
  erase: { title: 'Erase', about: 'All records that name the person go.' },
  pseudonymise: {
    title: 'Pseudonymise',
    about: 'Transactions and interactions stay for sums, without the person; all else that names the person goes.',
  },
}

type Counts = NonNullable<Erasure['found']>
const sumOf = (found: Counts): number => found.reduce((sum, each) => sum + each.count, 0)
const placesOf = (found: Counts): string => (found.length === 1 ? '1 place' : `${count(found.length)} places`)

/** How much names a person, for a sentence. */
export const totalOf = (found: Counts): string => {
  const sum = sumOf(found)
  return sum === 1 ? '1 message or row names' : `${count(sum)} messages and rows in ${placesOf(found)} name`
}

type ListProps = Omit<PageAnswer<unknown>, 'answer'> & {
  erasures: Erasure[] | undefined
  /** Whether one can be asked for on this page. */
  hasForm: boolean
}

/** Erasures, the newest first, with how far each is; its proof, once it is done. */
export const ErasureList = ({ erasures, hasForm, ...asked }: ListProps): VNode => {
  const { ask, org } = useSession()
  const [problem, setProblem] = useState<string>()
  const saveProof = async ({ erasure_id }: Erasure) => {
    setProblem(undefined)
    try {
      const { proof } = await ask<ErasureWithProof>(`/v1/erasures/${erasure_id}`)
      if (!proof) throw new Error('it has no proof yet')
      save(
        `erasure-${erasure_id}.proof.json`,
        new Blob([`${JSON.stringify(proof, null, 2)}\n`], { type: 'application/json' }),
      )
    } catch (error) {
      setProblem(wordsOf(error))
    }
  }
  return html`<${Card} title="Erasures">
    <${Asking} ...${asked} has=${erasures !== undefined} />
    ${problem && html`<p class="notice bad" role="alert">${sentence(problem)}</p>`}
    ${erasures?.length === 0 && html`<${Empty} title="Nobody was to be forgotten yet." command=${`weir erasures create --org ${org} --person <id> --mode erase --dry-run --wait`}><p>Ask for it ${hasForm ? html`above, <a href="/docs#/persons/create-erasure">over HTTP</a>, or have an operator do it:` : 'with a key of theirs, or on the server:'}</p><//>`}
    ${
      erasures &&
      erasures.length > 0 &&
      html`
      <p class="soft small">They name nobody. A proof is what was read again at the end, signed: <code>weir erasures check</code> checks it, or OpenSSL, with no system at hand.</p>
      <${Table} label="Erasures" isCards head=${html`<th scope="col">Asked</th><th scope="col">What</th><th scope="col">State</th><th scope="col">Found</th><th scope="col"><span class="hidden">Proof</span></th><th scope="col">Erasure</th>`}>
        ${erasures.map(
          (each) => html`<tr key=${each.erasure_id}>
          <td data-label="asked"><${When} at=${each.asked_at} /></td>
          <td data-label="what">${modeWords[each.mode].title}${each.dry_run && html` <span class="soft small">counted only</span>`}</td>
          <td class="text"><${ErasureState} of=${each} /></td>
          <td class="small"><${Found} of=${each} /></td>
          <td>${each.status === 'done' && !each.dry_run && html`<button type="button" aria-label=${`Download the proof of ${each.erasure_id}`} onClick=${() => saveProof(each)}>Proof</button>`}</td>
          <td class="small nowrap"><${Copyable} text=${each.erasure_id} what=${`the id ${each.erasure_id}`} /></td>
        </tr>`,
        )}
      <//>`
    }
  <//>`
}

const ErasureState = ({ of: { status, step, problem, ended_at, dry_run } }: { of: Erasure }): VNode => html`
  <${Badge} state=${status} /> <span class="soft small">${status === 'done' ? html`<${When} at=${ended_at} />` : step}</span>
  ${problem && html`<div class="small">${sentence(problem)}</div>`}
  ${status === 'failed' && html`<div class="soft small">${dry_run ? 'Count again when that is put right.' : 'It is tried on every hour, until it is done.'}</div>`}`

const Found = ({ of: { found } }: { of: Erasure }): VNode => {
  if (found === null) return html`<span class="soft">not counted yet</span>`
  if (found.length === 0) return html`<span class="soft">nothing</span>`
  return html`<details><summary class="nowrap">${count(sumOf(found))} in ${placesOf(found)}</summary><ul class="plain">${found.map(({ where, count: number }) => html`<li key=${where}><${Name} text=${where} /> ${count(number)}</li>`)}</ul></details>`
}
