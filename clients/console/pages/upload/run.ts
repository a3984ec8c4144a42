import type { VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { PageHead, Problems } from '../../components/shown.js'
import { count, percent, records, sentence } from '../../components/words.js'
import { linkTo, type PageProps } from '../../frame/route.js'
import { refusedFile, save } from '../../rows/refused-file.js'
import { mostKept, type ShownUpload } from '../../uploads/uploads.js'
import { useUpload } from '../../uploads/use-upload.js'
import { UploadPage } from './upload.js'

/** How far the upload of this tab is. After a reload there is none: then the form, which can go on with it. */
export const UploadRunPage = (props: PageProps): VNode => {
  const upload = useUpload()
  return upload ? html`<${Run} upload=${upload} />` : html`<${UploadPage} ...${props} />`
}

const Run = ({ upload }: { upload: ShownUpload }): VNode => {
  const { uploads } = useSession()
  const { file, type, isPatient, reading, state, share, tally, refused, opened, problem, retry, journal } = upload
  const isRunning = state === 'running'
  const heading = useRef<HTMLHeadingElement>(null)
  const wasRunning = useRef(isRunning)
  useEffect(() => {
    // The button that had the focus is gone.
    if (wasRunning.current && !isRunning && document.activeElement === document.body) heading.current?.focus()
    wasRunning.current = isRunning
  }, [isRunning])
  const place = opened?.format === 'JSON' ? 'Record' : 'Line'
  const download = () =>
    save(refusedName(file.name, opened?.columns), refusedFile(opened?.columns, refused, reading?.dialect))
  return html`
    <${PageHead} title=${file.name} about=${`To ${type.type}. ${isRunning ? 'It goes on while you look at other pages of this tab.' : ''}`}>
      ${!isRunning && html`<a class="button" href=${linkTo(['upload'])}>Choose another file</a>`}
    <//>
    <section class="card">
      <h2 ref=${heading} tabindex="-1">${titles[state]}${state === 'stopped' && ` at ${percent(share)}`}</h2>
      <progress max="1" value=${state === 'done' ? 1 : share * 0.99} aria-label="How much of the file is decided"></progress>
      <dl class="figures" aria-live="polite">
        <div><dt>accepted</dt><dd class="accepted">${count(tally.accepted)}</dd></div>
        <div><dt>refused</dt><dd class="refused">${count(tally.refused)}</dd></div>
        ${isPatient && html`<div><dt>waiting</dt><dd class="waiting">${count(tally.waiting)}</dd></div>`}
        <div><dt>in all</dt><dd>${count(tally.accepted + tally.refused + tally.waiting)}</dd></div>
      </dl>
      <div role="status">${retry && isRunning && html`<p class="notice">${sentence(retry)}</p>`}</div>
      <div role="alert">${problem && html`<p class="notice bad">${sentence(problem)} What was accepted is kept; going on sends nothing twice.</p>`}</div>
      <div class="actions">
        ${isRunning && html`<button type="button" onClick=${uploads.stop}>Stop</button>`}
        ${state === 'stopped' && html`<button class="primary" type="button" onClick=${() => uploads.start({ file, type, isPatient, reading, journal })}>Go on</button>`}
        ${refused.length > 0 && html`<button type="button" onClick=${download}>Download the refused records</button>`}
        ${tally.refused > 0 && html`<a class="button" href=${linkTo(['rejected'], { type: type.type })}>Look at them, mend them</a>`}
        ${!isRunning && html`<a class="button" href=${linkTo(['requests'], { type: type.type })}>The requests it went in</a>`}
      </div>
      ${state === 'done' && tally.refused === 0 && html`<p class="notice good">${tally.waiting > 0 ? html`Nothing was refused: ${records(tally.accepted)} accepted, ${count(tally.waiting)} wait. <a href=${linkTo(['waiting'])}>For what</a>` : html`All of it is accepted: ${records(tally.accepted)}.`}</p>`}
      ${
        refused.length > 0 &&
        html`<details><summary>The first refused records</summary><ol class="plain">
        ${refused.slice(0, 20).map(({ row, problems }) => html`<li key=${row.line}><strong>${place} ${row.line}</strong><${Problems} problems=${problems} /></li>`)}
      </ol></details>`
      }
      ${tally.refused > refused.length && html`<p class="soft">${refused.length >= mostKept ? `The file has the first ${count(mostKept)}` : 'Those that were refused before the page was loaded are not in the file'}; all of them are under Rejected.</p>`}
    </section>`
}

const titles = { running: 'Uploading…', done: 'Uploaded', stopped: 'Stopped' }

const refusedName = (name: string, columns: readonly string[] | undefined): string =>
  `${name}.refused.${columns ? 'csv' : 'ndjson'}`
