import type { VNode } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { FieldReference, TypeReference } from '../../../typescript/src/endpoints.js'
import type { RecordProblem, Weir } from '../../../typescript/src/index.js'
import { useSession } from '../../api/session.js'
import { html } from '../../components/html.js'
import { kindWords } from '../../components/kinds.js'
import { Card, Problems, Table } from '../../components/shown.js'
import { inline, records, sentence } from '../../components/words.js'
import { type LookedAt, lookInWorker, openParts, type PartReader } from '../../rows/open-in-worker.js'
import type { FileRow } from '../../rows/read-file.js'
import { type FileReading, problemOf } from '../../rows/reading.js'
import { patience, unreadable } from '../../uploads/uploads.js'
import { nothingSaid, readingOf, TakenFor } from './taken-for.js'

// As many as people look at. Tried out is the first part of the file.
const mostShown = 20

type Tried = {
  reading: FileReading
  opened: Pick<PartReader, 'format' | 'columns'>
  rows: FileRow[]
  isAll: boolean
  refused: Map<number, readonly RecordProblem[]>
  isDone: boolean
}

type PreviewProps = {
  file: File
  type: TypeReference
  isPatient: boolean
  isBusy: boolean
  onSend: (reading: FileReading) => void
}

/** What a file was taken for, its first rows, each value beside what the catalogue says of its field, and what would be refused. */
export const UploadPreview = ({ file, type, isPatient, isBusy, onSend }: PreviewProps): VNode => {
  const { weir } = useSession()
  const [said, setSaid] = useState(nothingSaid)
  const [looked, setLooked] = useState<{ look: LookedAt; with: typeof said }>()
  const [tried, setTried] = useState<Tried>()
  const [problem, setProblem] = useState<string>()
  useEffect(() => {
    let isOver = false
    lookInWorker(file, type, said).then(
      (found) => isOver || setLooked({ look: found, with: said }),
      (error: unknown) => isOver || setProblem((error as Error).message),
    )
    return () => {
      isOver = true
    }
  }, [said])

  const look = looked?.look
  // Until it was looked at as people said, nothing is read.
  const reading = looked?.with === said ? readingOf(looked.look, said) : undefined
  const misread = reading && problemOf(type, reading)
  const name = reading && !misread ? JSON.stringify(reading) : undefined
  useEffect(() => {
    if (!reading || name === undefined) return
    const ending = new AbortController()
    setProblem(undefined)
    tryOut({ file, type, reading, isPatient, weir, signal: ending.signal, onTried: setTried }).catch(
      (error: unknown) => ending.signal.aborted || setProblem((error as Error).message),
    )
    return () => ending.abort()
  }, [name])

  const taken = look && html`<${TakenFor} type=${type} look=${look} said=${said} onSaid=${setSaid} />`
  if (misread) return html`${taken}<p class="notice bad" role="alert">${misread}</p>`
  if (problem && !tried) return html`${taken}<p class="notice bad" role="alert">${sentence(problem)}</p>`
  if (!tried || !reading)
    return html`${taken}${(!look || reading || looked?.with !== said) && html`<p class="soft" role="status">Reading the first rows…</p>`}`
  if (tried.rows.length === 0)
    return html`${taken}<p class="notice bad" role="alert">There is no record in this file.</p>`
  // While it is tried out anew, what was found before stays.
  const isDone = tried.isDone && JSON.stringify(tried.reading) === name
  return html`${taken}<${Outcome} type=${type} tried=${tried} isDone=${isDone} problem=${problem} isPatient=${isPatient} isBusy=${isBusy} onSend=${() => onSend(reading)} />`
}

type TryOut = Pick<PreviewProps, 'file' | 'type' | 'isPatient'> & {
  reading: FileReading
  weir: Weir
  signal: AbortSignal
  onTried: (tried: Tried) => void
}

/** Reads the first part of a file, and has it decided without being kept. */
const tryOut = async ({ file, type, reading, isPatient, weir, signal, onTried }: TryOut): Promise<void> => {
  const opened = await openParts(file, type, { reading })
  signal.addEventListener('abort', opened.close)
  const rows = (await opened.next())?.rows ?? []
  const isAll = (await opened.next()) === undefined
  opened.close()
  if (signal.aborted) return
  const tried = { reading, opened, rows, isAll }
  const sent = rows.filter(({ fault }) => !fault)
  const refused = new Map<number, readonly RecordProblem[]>()
  for (const row of rows) if (row.fault) refused.set(row.line, [unreadable(row.fault)])
  onTried({ ...tried, refused: new Map(), isDone: false })
  // The first rows, within what one request may carry.
  await weir.of(type.type).upload(
    sent.map(({ record }) => record as Record<string, unknown>),
    {
      ...(isPatient && patience),
      dryRun: true,
      signal,
      giveUpAfterMs: 60_000,
      onRefused: ({ index, problems }) => {
        refused.set(sent[index]?.line ?? 0, problems)
      },
    },
  )
  onTried({ ...tried, refused, isDone: true })
}

type OutcomeProps = Pick<PreviewProps, 'type' | 'isPatient' | 'isBusy'> & {
  tried: Tried
  isDone: boolean
  problem: string | undefined
  onSend: () => void
}

const Outcome = ({ type, tried, isDone, problem, isPatient, isBusy, onSend }: OutcomeProps): VNode => {
  const { opened, rows, isAll, refused, reading } = tried
  const columns = columnsOf(rows, reading)
  const missing = type.fields.filter(({ name, required }) => required && !columns.includes(name))
  const first = rows.slice(0, mostShown)
  const wrong = rows.filter(({ line }) => refused.has(line))
  const isHopeless = missing.length > 0 || wrong.length === rows.length
  const words = verdictWords(rows.length, wrong.length, isAll, isPatient)
  return html`
    <${Card} title="What would happen">
      <div role="status">
        ${problem ? html`<p class="notice bad">It could not be tried out: ${sentence(problem)}</p>` : html`<p>${isDone ? words : 'Trying it out…'}</p>`}
      </div>
      ${missing.length > 0 && html`<p class="notice bad">Without ${missing.map(({ name }) => html`<code>${name}</code> `)} no record of ${type.type} is accepted${opened.columns ? ': choose the column that it is, or one value for all' : ''}.</p>`}
      ${isHopeless && isDone && html`<p class="notice bad">None of ${isAll ? 'it' : 'these'} would be accepted: mend the file first, or choose another type above.</p>`}
      <div class="actions"><button class=${isHopeless ? '' : 'primary'} type="button" disabled=${isBusy || (!isDone && !problem)} onClick=${onSend}>Upload ${isAll ? records(rows.length) : 'the whole file'}${isHopeless && ' all the same'}</button></div>
      ${wrong.length > 0 && html`<${Wrong} rows=${wrong} refused=${refused} format=${opened.format} />`}
    <//>
    <${Card} title=${`The first ${first.length} of ${isAll ? rows.length : `more than ${rows.length}`} rows`}>
      <${Table} label="The first rows of the file" hasCsv=${false} head=${[html`<th scope="col" class="number">${opened.format === 'JSON' ? 'record' : 'line'}</th>`, ...columns.map((name) => html`<${ColumnHead} name=${name} field=${type.fields.find((field) => field.name === name)} />`)]}>
        ${first.map((row) => html`<${PreviewRow} key=${row.line} row=${row} columns=${columns} problems=${refused.get(row.line)} />`)}
      <//>
    <//>`
}

const verdictWords = (tried: number, wrong: number, isAll: boolean, isPatient: boolean): VNode | string => {
  const taken = isPatient ? 'accepted, or wait' : 'accepted'
  const which = isAll ? `${records(tried)} in this file` : `first ${records(tried)}`
  if (wrong === 0)
    return html`<strong class="accepted">All of the ${which} would be ${taken}</strong>, as things are now.`
  return html`Of the ${which}, <strong class="refused">${wrong} would be refused</strong> and ${tried - wrong} ${taken}, as things are now.`
}

/** The fields that the records have. */
const columnsOf = (rows: readonly FileRow[], { fields, constants }: FileReading): string[] => {
  const named = ({ record }: FileRow) => (typeof record === 'object' && record !== null ? Object.keys(record) : [])
  const own = fields ?? rows.flatMap(named)
  return [...new Set([...own.filter(Boolean), ...Object.keys(constants)])]
}

const ColumnHead = ({ name, field }: { name: string; field: FieldReference | undefined }): VNode => html`
  <th scope="col" title=${field?.about ?? ''}>${name}${field?.required && html`<span class="refused" title="required">*</span>`}
    <span class=${field ? 'kind' : 'kind refused'}>${field ? kindWords(field) : 'not known'}</span></th>`

type RowProps = { row: FileRow; columns: readonly string[]; problems: readonly RecordProblem[] | undefined }

const PreviewRow = ({ row, columns, problems }: RowProps): VNode => {
  const record = (row.record ?? {}) as Record<string, unknown>
  const whole = problems?.filter(({ field }) => field === null || !columns.includes(field))
  return html`
    <tr class=${problems ? 'bad' : ''}>
      <td class="number">${row.line}${problems && html`<span class="hidden"> would be refused</span>`}</td>
      ${
        row.fault
          ? html`<td colspan=${columns.length}><code>${inline(row.given)}</code></td>`
          : columns.map((name) => {
              const problem = problems?.find(({ field }) => field === name)
              return html`<td class=${problem ? 'wrong' : ''} title=${problem?.message ?? ''}>${name in record ? inline(record[name]) : html`<span class="soft">–</span>`}${problem && html`<span class="why">${problem.message}</span>`}</td>`
            })
      }
    </tr>
    ${whole && whole.length > 0 && html`<tr class="bad"><td></td><td colspan=${columns.length}><${Problems} problems=${whole} /></td></tr>`}`
}

type WrongProps = { rows: FileRow[]; refused: Map<number, readonly RecordProblem[]>; format: string }

const Wrong = ({ rows, refused, format }: WrongProps): VNode => html`
  <details open=${rows.length <= 5}>
    <summary>What would be refused</summary>
    <ol class="plain">
      ${rows.slice(0, 50).map((row) => html`<li key=${row.line}><strong>${format === 'JSON' ? 'Record' : 'Line'} ${row.line}</strong><${Problems} problems=${refused.get(row.line) ?? []} /></li>`)}
    </ol>
    ${rows.length > 50 && html`<p class="soft">… and ${rows.length - 50} more.</p>`}
  </details>`
