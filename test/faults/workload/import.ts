import { setTimeout as wait } from 'node:timers/promises'
import { catalogue } from '#schemas/catalogue.js'
import type { Random } from '../random.js'
import type { ClientDeps, Refuse } from './client.js'
import { bodyOf, contentTypes, formatFor } from './formats.js'
import type { ToldBatch } from './ledger.js'
import type { ImportStep, Planned } from './plan.js'
import { isDecided, noteTelling, placesIn } from './told.js'
import { untilThere } from './until-there.js'

type Line = {
  batch: number
  status: number
  request_id: string
  batch_id: string
  /** By place in the import. */
  refused: { index: number; problems: { code: string }[] }[]
}
type Summary = { summary: { complete: boolean; message: string } }

const longestAttempt = 60_000
const pieces = 8

/** Sends an import until its summary says that it is complete: the same body with the same key, after each interruption, also of its own. */
export const createImport = (deps: ClientDeps & { refuse: Refuse }) => {
  const { org, random, ledger } = deps

  /** The lines that came, all of them or up to an interruption. */
  const attempt = async (step: ImportStep, format: keyof typeof contentTypes, body: Buffer): Promise<string[]> => {
    let text = ''
    const givesUp = random.chance(0.2)
    const signal = AbortSignal.timeout(givesUp ? random.int(50, 1_500) : longestAttempt)
    try {
      const answer = await fetch(`${random.pick(deps.edgeUrls)}/v1/imports/${step.type}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${deps.apiKey}`,
          'content-type': contentTypes[format],
          'idempotency-key': step.key,
        },
        body: slowly(body, random) as unknown as ReadableStream,
        duplex: 'half',
        signal,
      } as RequestInit)
      const decoder = new TextDecoder()
      for await (const piece of answer.body ?? []) text += decoder.decode(piece, { stream: true })
      if (answer.status !== 200) deps.refuse({ status: answer.status, body: text })
      return answer.status === 200 ? text.split('\n').slice(0, -1) : []
    } catch {
      // Cut off, by a fault or by ourselves: whole lines count.
      return text.split('\n').slice(0, -1)
    }
  }

  return async (step: ImportStep): Promise<void> => {
    // Not a JSON array: an import is lines.
    const format = formatFor(step, random, ['ndjson', 'csv'])
    const body = Buffer.from(bodyOf(format, step))
    const limit = catalogue.uploads.get(step.type)?.limit ?? 1
    let attempts = 0
    const told = await untilThere(async () => {
      attempts++
      const lines = (await attempt(step, format, body)).map((line) => JSON.parse(line) as Line | Summary)
      const chunks = toldChunks(
        lines.flatMap((line) => ('summary' in line ? [] : [line])),
        step.records,
        { limit, lanes: deps.lanes },
      )
      for (const { batches } of chunks) for (const batch of batches) if (isDecided(batch)) noteTelling(ledger, batch)
      const end = lines.find((line) => 'summary' in line)
      if (end?.summary.message.includes('another body')) ledger.surprises.push(`${org}: ${end.summary.message}`)
      return end?.summary.complete ? chunks : undefined
    })
    for (const { requestId, records, batches } of told)
      ledger.uploads.push({
        org,
        step: { kind: 'upload', type: step.type, key: step.key, records },
        requestId,
        attempts,
        batches,
      })
    ledger.imports++
  }
}

/** The answers about each chunk of an import, in the form of those about an upload: each chunk is a request of its own. */
export const toldChunks = (
  lines: readonly Line[],
  records: readonly Planned[],
  { limit, lanes }: { limit: number; lanes: readonly number[] },
): { requestId: string; records: Planned[]; batches: ToldBatch[] }[] =>
  [...new Set(lines.map(({ request_id }) => request_id))].map((requestId, n) => {
    const first = n * limit
    const own = records.slice(first, first + limit)
    const ofRequest = lines.filter(({ request_id }) => request_id === requestId)
    const places = placesIn(
      own,
      requestId,
      ofRequest.map(({ batch_id }) => batch_id),
      lanes,
    )
    const batches = ofRequest.map(({ batch_id, status, refused }, i) => ({
      batchId: batch_id,
      batch: i + 1,
      status,
      places: places.get(batch_id ?? '') ?? [],
      refused: refused.map(({ index, problems }) => ({
        index: index - first,
        codes: problems.map(({ code }) => code),
      })),
      waited: [],
    }))
    return { requestId, records: own, batches }
  })

async function* slowly(body: Buffer, random: Random): AsyncGenerator<Buffer> {
  const size = Math.ceil(body.length / pieces)
  for (let at = 0; at < body.length; at += size) {
    yield body.subarray(at, at + size)
    await wait(random.int(0, 100))
  }
}
