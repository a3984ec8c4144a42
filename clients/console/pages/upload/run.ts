import type { TypeReference } from '../../../typescript/src/endpoints.js'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Card, Problems } from '../../components/shown.js'
import { count, records, sentence } from '../../components/words.js'
import { linkTo } from '../../frame/route.js'
import type { FileRow, OpenFile } from '../../rows/read-file.js'
import { type RefusedFileRow, refusedFile, save } from '../../rows/refused-file.js'
import { useEffect, useRef, useState } from '../../vendor/hooks.js'
import type { VNode } from '../../vendor/preact.js'
import { patience } from './preview.js'

// The rest is kept by the service: /v1/rejections has every refused record.
const mostKept = 20_000

type Tally = { bytes: number; accepted: number; refused: number; waiting: number }

type RunProps = { file: File; type: TypeReference; opened: OpenFile; isPatient: boolean }

/** Sends a file through the SDK, and shows how far it is. */
export const UploadRun = ({ file, type, opened, isPatient }: RunProps): VNode => {
  const { weir } = useSession()
  const [tally, setTally] = useState<Tally>({ bytes: 0, accepted: 0, refused: 0, waiting: 0 })
  const [state, setState] = useState<'running' | 'done' | 'stopped'>('running')
  const [problem, setProblem] = useState<string>()
  const [retry, setRetry] = useState<string>()
  const ending = useRef(new AbortController())
  const refused = useRef<RefusedFileRow[]>([])

  useEffect(() => {
    const { signal } = ending.current
    // The rows that are not decided yet, by their place.
    const under = new Map<number, FileRow>()
    let next = 0
    let settled = 0
    let unsendable = 0
    let readBytes = 0
    const keep = (row: RefusedFileRow) => {
      if (refused.current.length < mostKept) refused.current.push(row)
    }
    async function* sendable() {
      for await (const row of opened.rows((read) => {
        readBytes = read
      })) {
        if (row.fault) {
          unsendable += 1
          keep({ row, problems: [{ code: 'unreadable', field: null, message: row.fault }] })
        } else {
          under.set(next, row)
          next += 1
          yield row.record as Record<string, unknown>
        }
      }
    }
    const show = (done: Omit<Tally, 'bytes'>) => {
      setRetry(undefined)
      const { accepted, refused: answered, waiting } = done
      setTally({ bytes: readBytes, accepted, refused: answered + unsendable, waiting })
    }
    const run = async () => {
      const summary = await weir.of(type.type).upload(sendable(), {
        ...(isPatient && patience),
        signal,
        // Short enough to see it go, long enough to be quick.
        batchSize: Math.min(type.limit, 1000),
        onRefused: ({ index, problems }) => {
          const row = under.get(index)
          if (row) keep({ row, problems })
        },
        onProgress: (progress) => {
          for (; settled < progress.settled; settled += 1) under.delete(settled)
          show(progress)
        },
        onRetry: ({ message, waitMs }) => setRetry(`${message}; next attempt in ${Math.ceil(waitMs / 1000)} s`),
      })
      show(summary)
      setState('done')
    }
    run().catch((error: unknown) => {
      const { message, remedy } = error as { message?: string; remedy?: string }
      if (!signal.aborted) setProblem(remedy ? `${message}: ${remedy}` : String(message ?? error))
      setState('stopped')
    })
    return () => ending.current.abort()
  }, [])

  const share = file.size === 0 ? 1 : tally.bytes / file.size
  return html`
    <${Card} title=${titles[state]}>
      <progress max="1" value=${state === 'done' ? 1 : share * 0.99} aria-label="How much of the file was sent"></progress>
      <dl class="figures" aria-live="polite">
        <div><dt>accepted</dt><dd class="accepted">${count(tally.accepted)}</dd></div>
        <div><dt>refused</dt><dd class="refused">${count(tally.refused)}</dd></div>
        ${isPatient && html`<div><dt>waiting</dt><dd class="waiting">${count(tally.waiting)}</dd></div>`}
        <div><dt>in all</dt><dd>${count(tally.accepted + tally.refused + tally.waiting)}</dd></div>
      </dl>
      <div role="status">${retry && state === 'running' && html`<p class="notice">${sentence(retry)}</p>`}</div>
      <div role="alert">${problem && html`<p class="notice bad">${sentence(problem)} What was accepted is kept; sending the whole file again takes nothing twice.</p>`}</div>
      <div class="actions">
        ${state === 'running' && html`<button type="button" onClick=${() => ending.current.abort()}>Stop</button>`}
        ${refused.current.length > 0 && html`<button type="button" onClick=${() => save(refusedName(file.name, opened), refusedFile(opened.columns, refused.current))}>Download the refused records</button>`}
        ${tally.refused > 0 && html`<a class="button" href=${linkTo(['rejected'], { type: type.type })}>Look at them, mend them</a>`}
        ${state !== 'running' && html`<a class="button" href=${linkTo(['requests'], { type: type.type })}>The requests it went in</a>`}
      </div>
      ${state === 'done' && tally.refused === 0 && html`<p class="notice good">${tally.waiting > 0 ? html`Nothing was refused: ${records(tally.accepted)} accepted, ${count(tally.waiting)} wait. <a href=${linkTo(['waiting'])}>For what</a>` : html`All of it is accepted: ${records(tally.accepted)}.`}</p>`}
      ${
        refused.current.length > 0 &&
        html`<details><summary>The first refused records</summary><ol class="plain">
        ${refused.current.slice(0, 20).map(({ row, problems }) => html`<li key=${row.line}><strong>${opened.format === 'JSON' ? 'Record' : 'Line'} ${row.line}</strong><${Problems} problems=${problems} /></li>`)}
      </ol></details>`
      }
      ${tally.refused > mostKept && html`<p class="soft">The file has the first ${count(mostKept)}; all of them are under Rejected.</p>`}
    <//>`
}

const titles = { running: 'Uploading…', done: 'Uploaded', stopped: 'Stopped' }

const refusedName = (name: string, { columns }: OpenFile): string => `${name}.refused.${columns ? 'csv' : 'ndjson'}`
