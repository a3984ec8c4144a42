import { setTimeout as wait } from 'node:timers/promises'
import { type Answer, createUploader, type Uploader } from '../../support/system/uploader.js'
import type { Random } from '../random.js'
import type { Ledger } from './ledger.js'
import type { InteractionStep, Step, UploadStep } from './plan.js'
import { cutOf, isDecided, noteTelling, toTold } from './told.js'

const answerWithin = 12_000
const firstPause = 50
const longestPause = 1_000
/** What a client may take as "try again": everything else is either an answer or a surprise. */
const tryAgain = [408, 429, 500, 502, 503, 504]

/** A careful client: the same key again, at one edge or the other, until it has an answer that it can use. */
export const createClient = (deps: {
  org: string
  apiKey: string
  edgeUrls: readonly string[]
  /** How many lanes the organisation has. */
  lanes: number
  random: Random
  ledger: Ledger
}) => {
  const { org, random, ledger } = deps
  const edges = deps.edgeUrls.map((url) => createUploader(url, deps.apiKey, { answerWithin }))

  const upload = async (step: UploadStep): Promise<void> => {
    const records = step.records.map(({ record }) => record)
    const cut = cutOf(step.records, deps.lanes)
    let attempts = 0
    const { body } = await untilUsable(async (edge) => {
      attempts++
      const answer = await edge.upload(`${step.type}${wishOf(step)}`, records, { 'idempotency-key': step.key })
      if (!Array.isArray(answer.body?.batches)) return refuse(answer)
      const batches = answer.body.batches.map((batch) => toTold(batch, cut))
      for (const batch of batches) if (isDecided(batch)) noteTelling(ledger, batch)
      return batches.every(isDecided) ? answer : undefined
    })
    ledger.uploads.push({
      org,
      step,
      requestId: body.request_id,
      attempts,
      batches: body.batches.map((batch) => toTold(batch, cut)),
    })
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

  /** Undefined: to be tried again. */
  const refuse = ({ status, body }: Answer<unknown>): undefined => {
    if (!tryAgain.includes(status)) ledger.surprises.push(`${org} was answered ${status}: ${JSON.stringify(body)}`)
  }

  const untilUsable = async <T>(ask: (edge: Uploader) => Promise<T | undefined>): Promise<T> => {
    for (let pause = firstPause; ; pause = Math.min(pause * 2, longestPause)) {
      // Refused, cut off or late is what faults do to clients.
      const answer = await ask(random.pick(edges)).catch(() => undefined)
      if (answer !== undefined) return answer
      await wait(pause)
    }
  }

  return { take: (step: Step): Promise<void> => (step.kind === 'upload' ? upload(step) : interact(step)) }
}

const outcomes: Record<number, 'accepted' | 'waits'> = { 201: 'accepted', 202: 'waits' }

const wishOf = ({ waits }: Step): string => (waits ? '?missing_references=wait&wait_for=1h' : '')
