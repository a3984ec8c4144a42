import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { SavedQuery } from '../../../typescript/src/endpoints.js'
import { forgetPassword, passwordOf } from '../../api/analyst-password.js'
import { AskError } from '../../api/ask.js'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Card, Empty, PageHead } from '../../components/shown.js'
import { sentence } from '../../components/words.js'
import { linkTo, type PageProps } from '../../frame/route.js'
import { useAnswer } from '../../frame/use-answer.js'
import { save } from '../../rows/refused-file.js'
import { Editor, type EditorHandle } from './editor.js'
import { Result } from './result.js'
import { downloadQuery, downloads, runQuery, type SqlAnswer, takePassword } from './run.js'
import { Saved } from './saved.js'
import { Examples, Tables } from './side.js'
import { tablesOf } from './tables.js'

/** Questions of one's own: an editor, what the query gives, and what there is to ask. */
export const SqlPage = ({ query }: PageProps): VNode => {
  const session = useSession()
  const { me, types } = session
  const marts = useAnswer<'/v1/marts'>('/v1/marts')
  const tables = tablesOf(marts.answer?.marts ?? [], types)
  const given = query.get('q') ?? ''
  const text = useRef(given)
  const editor = useRef<EditorHandle | undefined>(undefined)
  const running = useRef<AbortController | undefined>(undefined)
  const [isRunning, setRunning] = useState(false)
  const [answer, setAnswer] = useState<SqlAnswer>()
  const [problem, setProblem] = useState('')
  const [opened, setOpened] = useState<SavedQuery>()
  const [isLinked, setLinked] = useState(given !== '')
  const [hasPassword, setHasPassword] = useState(passwordOf(me.org_id) !== undefined)
  useEffect(() => () => running.current?.abort(), [])
  useEffect(() => {
    // A link to another query, followed while the page is open. It is shown, and never run by itself.
    if (!given || given === text.current) return
    editor.current?.setText(given)
    setLinked(true)
  }, [given])

  const show = (next: string, from?: SavedQuery) => {
    editor.current?.setText(next)
    editor.current?.focus()
    setOpened(from)
    setLinked(false)
  }
  const attempt = async (work: (asked: { query: string; signal: AbortSignal }) => Promise<void>) => {
    const asked = text.current.trim()
    if (running.current || asked === '') return
    const ending = new AbortController()
    running.current = ending
    setRunning(true)
    setProblem('')
    setLinked(false)
    history.replaceState(history.state, '', linkTo(['sql'], { ...Object.fromEntries(query), q: asked }))
    try {
      await work({ query: asked, signal: ending.signal })
    } catch (error) {
      if (ending.signal.aborted) setProblem('the query was cancelled')
      else setProblem((error as Error).message)
      if (error instanceof AskError && error.status === 403) {
        forgetPassword(me.org_id)
        setHasPassword(false)
      }
    }
    running.current = undefined
    setRunning(false)
  }
  const run = () =>
    attempt(async (asked) => {
      if (!passwordOf(me.org_id)) throw new Error('the password of the analyst is needed first')
      setAnswer(undefined)
      setAnswer(await runQuery(session, asked))
    })
  const download = (kind: keyof typeof downloads) =>
    void attempt(async (asked) => {
      const { accept, file } = downloads[kind]
      save(file, await downloadQuery(session, asked, accept))
    })

  if (me.is_operator && session.org !== me.org_id)
    return html`<${PageHead} title="SQL" /><${Empty} title=${`Queries are run for ${me.org_id}, the organisation of your key.`}><p>Choose it above, or sign in with a key of ${session.org}.</p><//>`
  return html`
    <${PageHead} title="SQL" about=${html`Queries of your own on the rows of ${me.org_id}, run in ClickHouse as the analyst whose password you give.`} />
    <div class="sql">
      <div>
        ${!hasPassword && html`<${Password} org=${me.org_id} onKept=${() => setHasPassword(true)} />`}
        <${Card}>
          ${isLinked && html`<p class="notice">This query came with the link. Read it before you run it.</p>`}
          <${Editor} text=${given} tables=${tables} onText=${(next: string) => {
            text.current = next
          }} onRun=${() => void run()} onReady=${(handle: EditorHandle) => {
            editor.current = handle
          }} />
          <div class="actions">
            <button class="primary" type="button" disabled=${isRunning || !hasPassword} onClick=${() => void run()}>Run</button>
            ${isRunning && html`<button type="button" onClick=${() => running.current?.abort()}>Cancel</button>`}
            <span class="soft small">Ctrl+Enter or ⌘+Enter runs it, Ctrl+Space completes, Tab leaves the editor.</span>
          </div>
          <div role="status">${isRunning && html`<p class="soft">Running…</p>`}</div>
          ${problem && html`<p class="notice bad" role="alert">${sentence(problem)}</p>`}
        <//>
        ${answer && html`<${Result} answer=${answer} isBusy=${isRunning} onDownload=${download} />`}
      </div>
      <div>
        <${Saved} text=${() => text.current} opened=${opened} onOpen=${(each: SavedQuery) => show(each.query, each)} onSaved=${setOpened} onDeleted=${(name: string) => opened?.name === name && setOpened(undefined)} />
        <${Examples} org=${me.org_id} onOpen=${(sql: string) => show(sql)} />
        <${Tables} tables=${tables} onInsert=${(name: string) => editor.current?.insert(name)} />
      </div>
    </div>`
}

const Password = ({ org, onKept }: { org: string; onKept: () => void }): VNode => {
  const [isWrong, setWrong] = useState(false)
  const keep = (event: Event) => {
    event.preventDefault()
    const field = (event.target as HTMLFormElement).elements.namedItem('password') as HTMLInputElement
    if (takePassword(org, field.value.trim())) onKept()
    else setWrong(true)
  }
  return html`<${Card} title="The password of your analyst">
    <p>Queries are run in ClickHouse as the user <code>analyst_${org}</code>, who reads the rows of ${org} and nothing else, or as <code>analyst_${org}_masked</code>, who sees nothing personal either: the password says which. An operator makes such a user, and its password, with <code>weir analysts create --org ${org}</code>, for the other one with <code>--masked</code>.</p>
    <form class="row" onSubmit=${keep}>
      <label>Password <input type="password" name="password" required autocomplete="off" maxlength="200" /></label>
      <button type="submit">Use it</button>
    </form>
    ${isWrong && html`<p class="notice bad" role="alert">A password has visible ASCII characters only.</p>`}
    <p class="soft small">It stays in this tab, as your key does, and is forgotten when you sign out.</p>
  <//>`
}
