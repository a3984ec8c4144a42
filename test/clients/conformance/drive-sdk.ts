import {
  createWeir,
  type ErasureWanted,
  type ImportOptions,
  type RefusedRecord,
  type RejectedValuesFilter,
  type UploadRefusal,
  verifyWebhook,
  type WaitingForOthers,
  WeirError,
} from '../../../clients/typescript/src/index.js'
import type { ConformanceCall, Names } from './cases.js'

type Given = {
  do: string
  type: string
  records: Record<string, unknown>[]
  options: object
  interaction: never
  filter: object
  days: object
  requestId: string
  keyId: string
  personId: string
  erasureId: string
  head: string
  wanted: object
  name: string | null
  body: string
  secrets: string[]
  headers: Record<string, string>
  at: string
}

/** Does with the SDK what a call says, and tells how that differs from what has to come of it. */
export const driveSdk = async (
  call: ConformanceCall,
  names: Names,
  config: { url: string; key: string; fetch: typeof fetch },
): Promise<string[]> => {
  const outcome = await perform(names.fill(call) as unknown as Given, { ...config, key: call.key ?? config.key }).then(
    (returned) => ({ returned }),
    (error: unknown) => ({ error }),
  )
  if ('returned' in outcome)
    return call.fails
      ? [`it should have failed, and returned ${JSON.stringify(outcome.returned)}`]
      : names.differences(call.returns, outcome.returned, 'returned', true)
  const { error } = outcome
  if (!call.fails || !(error instanceof WeirError)) return [`it failed: ${error}`]
  return [...(error.remedy ? [] : ['the error has no remedy']), ...names.differences(call.fails, error, 'error', false)]
}

const perform = async (call: Given, config: { url: string; key: string; fetch: typeof fetch }): Promise<unknown> => {
  const weir = createWeir(config)
  const { options, filter } = call
  switch (call.do) {
    case 'send':
      return weir.of(call.type).send(call.records, options)
    case 'upload': {
      const told: UploadRefusal<unknown>[] = []
      const onRefused = (refusal: UploadRefusal<unknown>) => void told.push(refusal)
      return { ...(await weir.of(call.type).upload(call.records, { ...options, onRefused })), told }
    }
    case 'import': {
      const told: RefusedRecord[] = []
      const toldWaiting: WaitingForOthers[] = []
      const onRefused = (refusal: RefusedRecord) => void told.push(refusal)
      const onWaiting = (waiting: WaitingForOthers) => void toldWaiting.push(waiting)
      const options = { ...(call.options as ImportOptions), onRefused, onWaiting }
      return { ...(await weir.of(call.type).import(call.body, options)), told, toldWaiting }
    }
    case 'feeds.page':
      return weir.feeds.page(call.type, options)
    case 'feeds.read':
      return allOf(weir.feeds.read(call.type, options))
    case 'webhooks.verify':
      return verifyWebhook(call.secrets, call.headers, call.body, { at: new Date(call.at) })
    case 'interactions.record':
      return weir.interactions.record(call.interaction, options)
    case 'interactions.list':
      return allOf(weir.interactions.list(filter, options))
    case 'requests.get':
      return weir.requests.get(call.requestId, options)
    case 'rejections.list':
      return allOf(weir.rejections.list(filter, options))
    case 'rejections.summary':
      return weir.rejections.summary(filter, options)
    case 'rejections.values':
      return weir.rejections.values(filter as RejectedValuesFilter, options)
    case 'rejections.retry':
      return weir.rejections.retry(filter, options)
    case 'rejections.getRetry':
      return weir.rejections.getRetry(call.requestId, options)
    case 'quality.get':
      return weir.quality.get(call.days, options)
    case 'waiting.list':
      return allOf(weir.waiting.list(filter, options))
    case 'waiting.records':
      return allOf(weir.waiting.records(filter, options))
    case 'waiting.cancel':
      return weir.waiting.cancel(filter, options)
    case 'persons.export':
      return weir.persons.export(call.personId, options)
    case 'erasures.ask':
      return weir.erasures.ask(call.personId, call.wanted as ErasureWanted, options)
    case 'erasures.list':
      return weir.erasures.list(options)
    case 'erasures.find':
      return weir.erasures.find(call.erasureId, options)
    case 'erasures.untilDone':
      return weir.erasures.untilDone(call.erasureId, options)
    case 'keys.list':
      return allOf(weir.keys.list(filter, options))
    case 'keys.issue':
      return weir.keys.issue(call.wanted, options)
    case 'keys.rename':
      return (await weir.keys.rename(call.keyId, call.name, options)) ?? null
    case 'keys.rotate':
      return weir.keys.rotate(call.keyId, call.wanted, options)
    case 'keys.revoke':
      return weir.keys.revoke(call.keyId, options)
    case 'audit.list':
      return allOf(weir.audit.list(options))
    case 'audit.verify':
      return weir.audit.verify({ head: call.head }, options)
    default:
      throw new Error(`the SDK cannot ${call.do}`)
  }
}

const allOf = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
