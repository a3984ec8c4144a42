import type { Call, CallOptions } from './call.js'
import { eachOf, type ListOptions, type TimeGiven } from './pages.js'
import type { Interaction, RecordedInteraction } from './record-types.js'
import type { MissingReference } from './requests.js'
import { newKey, toText } from './send.js'
import { type WaitOptions, waitQueryOf } from './waiting.js'

/** Which interactions are listed: those to which everything applies that is given. */
export type InteractionFilter = {
  [Name in FilterName]?: Interaction[Name] | undefined
} & {
  /** The first moment of `event_timestamp` that is included. */
  from?: TimeGiven | undefined
  /** The first moment after it that is not. */
  to?: TimeGiven | undefined
}
type FilterName = 'student_id' | 'user_id' | 'item_type' | 'item_id' | 'interaction_type' | 'platform' | 'source'

export type RecordOptions = CallOptions & { idempotencyKey?: string | undefined }

/** An interaction that was recorded. */
export type InteractionTaken = Interaction & { interaction_id: string; recorded_at: string; waiting?: undefined }

/** An interaction that waits for what it refers to, and is recorded once that is there. */
export type InteractionInWaiting = Interaction & {
  interaction_id: string
  recorded_at?: undefined
  waiting: { for: MissingReference[]; until: string }
}

/** With `missingReferences: 'wait'` it may come to wait; without, it is recorded or fails. */
export type RecordInteraction = {
  (
    interaction: Interaction,
    options?: RecordOptions & { missingReferences?: 'refuse' | undefined },
  ): Promise<InteractionTaken>
  (interaction: Interaction, options: RecordOptions & WaitOptions): Promise<InteractionTaken | InteractionInWaiting>
}

export type Interactions = {
  /** Records one interaction: one, however often it is sent, or this is called with the same idempotencyKey. */
  record: RecordInteraction
  /** Your organisation's interactions, newest first. What was recorded a moment ago may not be there yet. */
  list: (filter?: InteractionFilter, options?: ListOptions) => AsyncGenerator<RecordedInteraction, void, undefined>
}

export const createInteractions = (call: Call): Interactions => ({
  record: (async (
    interaction: Interaction,
    { idempotencyKey = newKey(), missingReferences, waitFor, ...options }: RecordOptions & WaitOptions = {},
  ) => {
    const body = toText(interaction)
    const path = `/user-interactions${waitQueryOf({ missingReferences, waitFor })}`
    const { json } = await call({ method: 'POST', path, body, idempotencyKey }, options)
    return json
  }) as RecordInteraction,
  list: (filter = {}, options = {}) =>
    eachOf<RecordedInteraction>(call, { path: '/user-interactions', name: 'interactions' }, filter, options),
})
