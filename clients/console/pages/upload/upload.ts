import type { VNode } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { TypeReference } from '../../../typescript/src/endpoints.js'
import { may, useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Card, Choose, PageHead } from '../../components/shown.js'
import { bytes, percent } from '../../components/words.js'
import { goTo, linkTo, type PageProps } from '../../frame/route.js'
import type { FileReading } from '../../rows/reading.js'
import { save } from '../../rows/refused-file.js'
import type { UploadJournal } from '../../uploads/journal.js'
import { useUpload } from '../../uploads/use-upload.js'
import { UploadPreview } from './preview.js'

/** Drop a file, see what would be refused, and send it. */
export const UploadPage = ({ query }: PageProps): VNode => {
  const { me, org, types, weir, uploads } = useSession()
  const choices = types.filter((type) => may(me, `${type.type}:write`))
  const [file, setFile] = useState<File>()
  const [name, setName] = useState(query.get('type') ?? '')
  const [isPatient, setPatient] = useState(false)
  const [earlier, setEarlier] = useState<UploadJournal>()
  const underWay = useUpload()
  const isBusy = underWay?.state === 'running'
  const type = choices.find((each) => each.type === name) ?? choices[0]

  const choose = async (chosen: File | undefined) => {
    if (!chosen) return
    setEarlier(undefined)
    setFile(chosen)
    const guess = guessType(chosen.name, choices)
    if (guess) setName(guess)
    setEarlier(await uploads.stoppedOf(chosen))
  }
  const send = (reading?: FileReading, journal?: UploadJournal) => {
    const ofType = choices.find((each) => each.type === journal?.type) ?? type
    if (!file || !ofType) return
    uploads.start({
      file,
      type: ofType,
      isPatient: journal?.isPatient ?? isPatient,
      reading: journal?.reading ?? reading,
      journal,
    })
    goTo(linkTo(['upload', 'run']))
  }
  if (!type) return html`<${PageHead} title="Upload" about="Your key may not upload records of any type." />`
  return html`
    <${PageHead} title="Upload" about="A CSV, NDJSON or JSON file of one type, packed by gzip or not. Nothing is kept before you say so." />
    ${me.org_id !== org && html`<p class="notice">What you upload goes to <strong>${me.org_id}</strong>, the organisation of your key.</p>`}
    ${isBusy && html`<p class="notice"><a href=${linkTo(['upload', 'run'])}>${underWay.file.name} is being uploaded</a>. You can look at another file meanwhile, and send it when this one has ended.</p>`}
    ${!file && html`<${Stopped} />`}
    <${Card}>
      <${DropZone} file=${file} onFile=${choose} />
      <div class="row">
        <${Choose} label="Records of" value=${type.type} onChange=${setName} options=${choices.map((each) => [each.type, each.type])} />
        <span class="soft small">${type.about} <a href=${linkTo(['types'], { type: type.type })}>Its fields</a> · <button class="link" type="button" onClick=${() => save(`${type.type}.csv`, templateOf(type))}>A template of ${type.type}, as CSV</button></span>
      </div>
      ${'waiting' in weir && html`<label class="check"><input type="checkbox" checked=${isPatient} onChange=${() => setPatient(!isPatient)} /> Records that refer to something not uploaded yet wait for it, for 24 hours, instead of being refused</label>`}
    <//>
    ${
      earlier &&
      html`<${Card} title=${`The upload of this file stopped at ${percent(earlier.bytes / earlier.size)}`}>
      <p>It was sent to ${earlier.type}. Going on sends only what was not answered; beginning anew, below, sends all of it.</p>
      <div class="actions"><button class="primary" type="button" disabled=${isBusy} onClick=${() => send(undefined, earlier)}>Go on</button></div>
    <//>`
    }
    ${file && html`<${UploadPreview} key=${`${file.name} ${file.lastModified} ${file.size} ${type.type} ${isPatient}`} file=${file} type=${type} isPatient=${isPatient} isBusy=${isBusy} onSend=${send} />`}
    ${!file && html`<p class="soft">No file at hand? The template above is one. The uploader makes sample files of every type, some rows of them wrong, and sends files that are too large for a browser: it is at <a href="/downloads/">downloads</a>.</p>`}`
}

/** The names of all columns, and a row to be replaced. */
const templateOf = ({ snippets }: TypeReference): Blob => new Blob([snippets.csv ?? ''], { type: 'text/csv' })

/** A page that was loaded anew may not open a file by itself: somebody has to choose it again. */
const Stopped = (): VNode => {
  const { uploads } = useSession()
  const underWay = useUpload()
  const [journals, setJournals] = useState<UploadJournal[]>([])
  const look = async () => setJournals(await uploads.stopped())
  useEffect(() => void look(), [underWay?.state])
  const forget = (run: string) => {
    uploads.forget(run)
    void look()
  }
  return html`${journals.map(
    ({
      run,
      name,
      bytes: sent,
      size,
    }) => html`<p key=${run} class="notice"><strong>${name}</strong> stopped at ${percent(sent / size)}: choose the same file to go on.
    <button type="button" onClick=${() => forget(run)}>Forget ${name}</button></p>`,
  )}`
}

/** `shops.csv`, `2026-01-31_shop-tags.ndjson`: the longest name of a type that stands in the file's. */
const guessType = (fileName: string, types: readonly Pick<TypeReference, 'type'>[]): string | undefined => {
  const plain = fileName.toLowerCase().replaceAll('_', '-')
  const found = types.filter(({ type }) => plain.includes(type)).sort((a, b) => b.type.length - a.type.length)
  return found[0]?.type
}

type DropProps = { file: File | undefined; onFile: (file: File | undefined) => void }

const DropZone = ({ file, onFile }: DropProps): VNode => {
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    onFile(event.dataTransfer?.files[0])
  }
  const over = (event: DragEvent) => {
    event.preventDefault()
    setOver(true)
  }
  const take = () => {
    onFile(input.current?.files?.[0])
    // Otherwise choosing the same file again, edited meanwhile, would be no change.
    if (input.current) input.current.value = ''
  }
  return html`
    <div class=${isOver ? 'drop over' : 'drop'} onDragOver=${over} onDragLeave=${() => setOver(false)} onDrop=${drop}>
      <p>${file ? html`<strong>${file.name}</strong> <span class="soft">${bytes(file.size)}</span>` : html`<strong>Drop a file here</strong> <span class="soft">or</span>`}</p>
      <label class="button" for="file">${file ? 'Choose another file' : 'Choose a file'}</label>
      <input ref=${input} id="file" type="file" class="hidden" accept=".csv,.ndjson,.jsonl,.json,.gz,.xlsx,text/csv,application/json,application/gzip" onChange=${take} />
    </div>`
}
