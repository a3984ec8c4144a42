import { interactionIdAt } from '#schemas/uuid.js'
import { eventually } from '../../support/eventually.js'
import { type Answer, createUploader, type UploadAnswer, type Uploader } from '../../support/system/uploader.js'
import type { Random } from '../random.js'
import { bodyOf, contentTypes, type Format, formatFor } from './formats.js'
import { createImport } from './import.js'
import type { Ledger, ToldBatch, ToldErasure, ToldUpload } from './ledger.js'
import type { EraseStep, InteractionStep, InteractionsStep, Step, UploadStep } from './plan.js'
import { createRetry } from './retry.js'
import { isDecided, noteTelling, placesIn, toTold } from './told.js'
import { untilThere } from './until-there.js'

const answerWithin = 12_000
const backWithin = 120_000
// An edge looks every 2 s whom it may let in again, and one that was killed or cut off later.
const edgesKnowWithin = 15_000
/** What a client may take as "try again": everything else is either an answer or a surprise. */
const tryAgain = [408, 429, 500, 502, 503, 504]

export type ClientDeps = {
  org: string
  apiKey: string
  edgeUrls: readonly string[]
  /** How many lanes the organisation has, and has had before. */
  lanes: readonly number[]
  random: Random
  ledger: Ledger
}
/** Of an answer that cannot be used: notes one that no client should get, and returns undefined, so that the client tries again. */
export type Refuse = (answer: Pick<Answer<unknown>, 'status' | 'body'>) => undefined

/** A careful client: the same key again, at one edge or the other, until it has an answer that it can use. */
export const createClient = (deps: ClientDeps) => {
  const { org, random, ledger } = deps
  const edges = deps.edgeUrls.map((url) => createUploader(url, deps.apiKey, { answerWithin }))

  const upload = async (step: UploadStep): Promise<void> => {
    // The same body each time: its key is the same.
    const format = formatFor(step, random, formats)
    const body = bodyOf(format, step)
    const read = ({ request_id, batches }: UploadAnswer) => {
      const ids = batches.map(({ data }) => data.batch_id)
      const places = placesIn(step.records, request_id, ids, deps.lanes)
      return batches.map((batch) => toTold(batch, places))
    }
    const headers = { 'idempotency-key': step.key, 'content-type': contentTypes[format] }
    const sentAt = Date.now()
    const told = await untilDecided(`/v1/data/${step.type}${wishOf(step)}`, body, headers, read)
    ledger.uploads.push({ org, step, sentAt, ...told })
  }

  /** Sends the same request until all of its batches are decided, and notes each time what was told of them. */
  const untilDecided = async (
    path: string,
    body: string,
    headers: Record<string, string>,
    read: (answer: UploadAnswer) => ToldBatch[],
  ): Promise<Pick<ToldUpload, 'requestId' | 'attempts' | 'batches'>> => {
    let attempts = 0
    const told = await untilUsable(async (edge) => {
      attempts++
      const answer = await edge.send<UploadAnswer>('POST', path, body, headers)
      if (!Array.isArray(answer.body?.batches)) return refuse(answer)
      const batches = read(answer.body)
      for (const batch of batches) if (isDecided(batch)) noteTelling(ledger, batch)
      return batches.every(isDecided) ? { requestId: answer.body.request_id, batches } : undefined
    })
    return { ...told, attempts }
  }

  const interact = async (step: InteractionStep): Promise<void> => {
    let attempts = 0
    const ask = async (edge: Uploader) => {
      attempts++
      const answer = await edge.interact(
        step.body,
        step.key === null ? {} : { 'idempotency-key': step.key },
        wishOf(step),
      )
      return answer.status === 400 || outcomes[answer.status] ? answer : refuse(answer)
    }
    const answer = step.key === null ? await ask(random.pick(edges)).catch(() => undefined) : await untilUsable(ask)
    ledger.interactions.push({
      org,
      step,
      attempts,
      outcome: answer === undefined ? 'doubtful' : (outcomes[answer.status] ?? 'refused'),
      requestId: answer?.headers.get('x-request-id') ?? null,
      interactionId: answer && outcomes[answer.status] ? String(answer.body.interaction_id) : null,
    })
  }

  const interactTogether = async (step: InteractionsStep): Promise<void> => {
    const body = JSON.stringify({ records: step.each.map((one) => one.body) })
    const read = ({ batches }: UploadAnswer) => batches.map((batch) => toTold(batch, new Map()))
    const headers = { 'idempotency-key': step.key }
    const told = await untilDecided(`/v1/data/interactions${wishOf(step)}`, body, headers, read)
    const refused = new Set(told.batches.flatMap((batch) => batch.refused.map(({ index }) => index)))
    const waited = new Set(told.batches.flatMap((batch) => batch.waited))
    step.each.forEach((one, place) => {
      const outcome = waited.has(place) ? 'waits' : refused.has(place) ? 'refused' : 'accepted'
      ledger.interactions.push({
        org,
        step: one,
        attempts: told.attempts,
        outcome,
        requestId: told.requestId,
        isOneOfMany: true,
        interactionId: outcome === 'refused' ? null : interactionIdAt(told.requestId, place),
      })
    })
  }

  const erase = async ({ customer, user, by, mode, afterwards, comesBack }: EraseStep): Promise<void> => {
    const body = JSON.stringify({ person_id: by === 'customer' ? customer : user, mode, afterwards })
    const asked = await untilUsable(async (edge) => {
      const answer = await edge.send<{ erasure_id: string }>('POST', '/v1/erasures', body)
      return answer.status === 202 ? answer.body : refuse(answer)
    })
    const erasure = { org, erasureId: asked.erasure_id, names: [customer, user], mode, afterwards, doneAt: null }
    ledger.erasures.push(erasure)
    own.push({ erasure, comesBack })
  }
  const own: { erasure: ToldErasure; comesBack: EraseStep['comesBack'] }[] = []

  const look = async (): Promise<void> => {
    for (const { erasure } of own.filter(({ erasure: { doneAt } }) => doneAt === null)) {
      const { status } = await untilUsable(async (edge) => {
        const answer = await edge.get<{ status: string }>(`/v1/erasures/${erasure.erasureId}`)
        return answer.status === 200 ? answer.body : refuse(answer)
      })
      if (status === 'done') erasure.doneAt = Date.now()
    }
    for (const each of own)
      if (isKnownEverywhere(each.erasure)) for (const step of each.comesBack.splice(0)) await take(step)
  }

  /** Everybody who was erased and is taken as somebody new comes back, as soon as that is so. */
  const finish = (): Promise<void> =>
    eventually(async () => {
      await look()
      const missing = own.filter(({ comesBack }) => comesBack.length > 0).length
      if (missing > 0) throw new Error(`${missing} who may come back are not back`)
    }, backWithin)

  const refuse: Refuse = ({ status, body }) => {
    if (!tryAgain.includes(status)) ledger.surprises.push(`${org} was answered ${status}: ${JSON.stringify(body)}`)
  }

  // Refused, cut off or late is what faults do to clients.
  const untilUsable = <T>(ask: (edge: Uploader) => Promise<T | undefined>): Promise<T> =>
    untilThere(() => ask(random.pick(edges)).catch(() => undefined))

  const importAll = createImport({ ...deps, refuse })
  const retry = createRetry({ ...deps, untilUsable, refuse })

  const take = (step: Step): Promise<void> => {
    switch (step.kind) {
      case 'upload':
        return upload(step)
      case 'interaction':
        return interact(step)
      case 'interactions':
        return interactTogether(step)
      case 'import':
        return importAll(step)
      case 'retry':
        return retry(step)
      case 'erase':
        return erase(step)
      case 'look':
        return look()
    }
  }
  return { take, finish }
}

const isKnownEverywhere = ({ doneAt }: ToldErasure): boolean => doneAt !== null && Date.now() - doneAt > edgesKnowWithin

const formats: readonly Format[] = ['json', 'ndjson', 'csv']

const outcomes: Record<number, 'accepted' | 'waits'> = { 201: 'accepted', 202: 'waits' }

const wishOf = ({ waits }: Pick<UploadStep, 'waits'>): string =>
  waits === undefined ? '' : `?missing_references=wait&wait_for=${waits}`
