import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { AnswerTo } from '../../typescript/src/endpoints.js'
import { useSession, wordsOf } from '../api/session.js'
import { html } from '../components/html.js'
import { sentence } from '../components/words.js'
import { goTo, linkTo } from './route.js'

type FoundThings = AnswerTo<'GET /v1/find'>
type FoundThing = FoundThings['found'][number]

/** One box for any id, on every page: what has it is gone to; where several things do, they are offered. */
export const SearchBox = (): VNode => {
  const { ask, org } = useSession()
  const [text, setText] = useState('')
  const [outcome, setOutcome] = useState<{ id: string; things?: FoundThings; problem?: string }>()
  const [isBusy, setBusy] = useState(false)
  const input = useRef<HTMLInputElement>(null)

  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest('input, select, textarea') !== null
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      input.current?.focus()
      input.current?.select()
    }
    // What was found is no part of another page.
    const forget = () => setOutcome(undefined)
    addEventListener('keydown', focus)
    addEventListener('hashchange', forget)
    return () => {
      removeEventListener('keydown', focus)
      removeEventListener('hashchange', forget)
    }
  }, [])

  const leave = () => {
    setText('')
    setOutcome(undefined)
  }
  const search = async (event: Event) => {
    event.preventDefault()
    // The key that leads here, pressed once more.
    const id = text.trim().replace(/^\/+/, '')
    if (id === '' || isBusy) return
    setBusy(true)
    try {
      const things = await ask<FoundThings>(`/v1/find?${new URLSearchParams({ id })}`)
      const [only, ...others] = things.found
      if (only && others.length === 0) {
        leave()
        goTo(placeOf(only))
      } else setOutcome({ id, things })
    } catch (error) {
      setOutcome({ id, problem: wordsOf(error) })
    }
    setBusy(false)
  }
  const close = ({ key }: KeyboardEvent) => {
    if (key !== 'Escape') return
    setOutcome(undefined)
    input.current?.focus()
  }
  return html`
    <form class="search" role="search" aria-label="Find anything by its id" onSubmit=${search} onKeyDown=${close}>
      <input ref=${input} type="search" aria-label="Find an id" title="Of a record, a request, a batch or a key. The key / leads here." placeholder="Find an id   ( / )" autocomplete="off" spellcheck=${false} maxlength="200" value=${text}
        onInput=${(event: Event) => setText((event.target as HTMLInputElement).value)} />
      <div role="status">${outcome && html`<div class="found"><${Outcome} ...${outcome} org=${org} onGo=${leave} /><button type="button" class="link" onClick=${leave}>Close</button></div>`}</div>
    </form>`
}

type OutcomeProps = {
  id: string
  things?: FoundThings
  problem?: string
  org: string
  onGo: () => void
}

const Outcome = ({ id, things, problem, org, onGo }: OutcomeProps): VNode => {
  if (!things) return html`<p>It could not be looked for: ${sentence(problem ?? '')}</p>`
  const { found, complete } = things
  const rest = complete ? '' : ' Not everything could be looked through at the moment: it may be there all the same.'
  if (found.length === 0)
    return html`<p>Nothing of ${org} has the id <code>${id}</code>.${rest} What was accepted a moment ago may take some seconds.</p>`
  return html`
    <p>Several things have this id:${rest}</p>
    <ul class="plain">${found.map((each) => html`<li key=${`${each.kind} ${each.type}`}><a href=${placeOf(each)} onClick=${onGo}>${nameOf(each)}</a></li>`)}</ul>`
}

const placeOf = ({ kind, type = '', id, request_id, org }: FoundThing): string => {
  if (kind === 'record') return linkTo(['journey', type, id])
  return kind === 'key' ? linkTo(['keys'], { org }) : linkTo(['requests', request_id ?? id])
}

const nameOf = ({ kind, type, org }: FoundThing): string => {
  if (kind === 'record') return `the record of ${type}`
  return kind === 'key' ? `the key of ${org}` : `the ${kind} of ${type}`
}
