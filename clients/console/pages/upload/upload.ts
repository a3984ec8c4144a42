import type { TypeReference } from '../../../typescript/src/endpoints.js'
import { comesAlone, may, useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { Card, Choose, PageHead } from '../../components/shown.js'
import { bytes, sentence } from '../../components/words.js'
import { linkTo, type PageProps } from '../../frame/route.js'
import { FileProblem, type OpenFile, openFile } from '../../rows/read-file.js'
import { useEffect, useRef, useState } from '../../vendor/hooks.js'
import type { VNode } from '../../vendor/preact.js'
import { UploadPreview } from './preview.js'
import { UploadRun } from './run.js'

/** Drop a file, see what would be refused, send it, and take the refused rows home. */
export const UploadPage = ({ query }: PageProps): VNode => {
  const { me, org, types, weir } = useSession()
  // Interactions are sent one by one by programs, never as a file.
  const uploads = types.filter((type) => !comesAlone(type) && may(me, `${type.type}:write`))
  const [file, setFile] = useState<File>()
  const [name, setName] = useState(query.get('type') ?? uploads[0]?.type ?? '')
  const [isSending, setSending] = useState(false)
  const [isPatient, setPatient] = useState(false)
  const type = uploads.find((each) => each.type === name) ?? uploads[0]

  const choose = (chosen: File | undefined) => {
    if (!chosen) return
    setFile(chosen)
    setSending(false)
    const guess = guessType(chosen.name, uploads)
    if (guess) setName(guess)
  }
  if (!type) return html`<${PageHead} title="Upload" about="Your key may not upload records of any type." />`
  return html`
    <${PageHead} title="Upload" about="A CSV, NDJSON or JSON file of one type. Nothing is sent before you say so." />
    ${me.org_id !== org && html`<p class="notice">What you upload goes to <strong>${me.org_id}</strong>, the organisation of your key.</p>`}
    <${Card}>
      <${DropZone} file=${file} onFile=${choose} isBusy=${isSending} />
      <div class="row">
        <${Choose} label="Records of" value=${type.type} onChange=${(chosen: string) => {
          setName(chosen)
          setSending(false)
        }} options=${uploads.map((each) => [each.type, each.type])} />
        <span class="soft small">${type.about} <a href=${linkTo(['types'], { type: type.type })}>Its fields</a></span>
      </div>
      ${'waiting' in weir && html`<label class="check"><input type="checkbox" checked=${isPatient} disabled=${isSending} onChange=${() => setPatient(!isPatient)} /> Records that refer to something not uploaded yet wait for it, for 24 hours, instead of being refused</label>`}
    <//>
    ${file && html`<${Opened} key=${`${file.name} ${file.lastModified} ${file.size} ${type.type} ${isPatient}`} file=${file} type=${type} isSending=${isSending} isPatient=${isPatient} onSend=${() => setSending(true)} />`}
    ${!file && html`<p class="soft">No file at hand? This writes sample files of every type, some rows of them wrong: <code>npm run -s weir -- sample --customers 500 --broken 2% --out .data/sample</code></p>`}`
}

/** `shops.csv`, `2026-01-31_shop-tags.ndjson`: the longest name of a type that stands in the file's. */
const guessType = (fileName: string, types: readonly Pick<TypeReference, 'type'>[]): string | undefined => {
  const plain = fileName.toLowerCase().replaceAll('_', '-')
  const found = types.filter(({ type }) => plain.includes(type)).sort((a, b) => b.type.length - a.type.length)
  return found[0]?.type
}

type DropProps = { file: File | undefined; onFile: (file: File | undefined) => void; isBusy: boolean }

const DropZone = ({ file, onFile, isBusy }: DropProps): VNode => {
  const [isOver, setOver] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    if (!isBusy) onFile(event.dataTransfer?.files[0])
  }
  const over = (event: DragEvent) => {
    event.preventDefault()
    setOver(true)
  }
  return html`
    <div class=${isOver ? 'drop over' : 'drop'} onDragOver=${over} onDragLeave=${() => setOver(false)} onDrop=${drop}>
      <p>${file ? html`<strong>${file.name}</strong> <span class="soft">${bytes(file.size)}</span>` : html`<strong>Drop a file here</strong> <span class="soft">or</span>`}</p>
      <label class="button" for="file">${file ? 'Choose another file' : 'Choose a file'}</label>
      <input ref=${input} id="file" type="file" class="hidden" accept=".csv,.ndjson,.jsonl,.json,text/csv,application/json" disabled=${isBusy}
        onChange=${() => onFile(input.current?.files?.[0])} />
    </div>`
}

type OpenedProps = { file: File; type: TypeReference; isSending: boolean; isPatient: boolean; onSend: () => void }

const Opened = ({ file, type, isSending, isPatient, onSend }: OpenedProps): VNode => {
  const [opened, setOpened] = useState<OpenFile>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    openFile(file, type).then(setOpened, (error: unknown) =>
      setProblem(error instanceof FileProblem ? error.message : String(error)),
    )
  }, [])
  if (problem) return html`<p class="notice bad" role="alert">${sentence(problem)}</p>`
  if (!opened) return html`<p class="soft" role="status">Reading the file…</p>`
  return isSending
    ? html`<${UploadRun} file=${file} type=${type} opened=${opened} isPatient=${isPatient} />`
    : html`<${UploadPreview} type=${type} opened=${opened} isPatient=${isPatient} onSend=${onSend} />`
}
