import type { Call, CallOptions } from './call.js'
import { eachOf, type ListOptions, type TimeGiven } from './pages.js'
import type { Interaction, RecordedInteraction } from './record-types.js'
import { newKey, toText } from './send.js'

/** Which interactions are listed: those to which everything applies that is given. */
export type InteractionFilter = {
  [Name in InteractionFilterName]?: Interaction[Name] | undefined
} & {
  /** The first moment of `event_timestamp` that is included. */
  from?: TimeGiven | undefined
  /** The first moment after it that is not. */
  to?: TimeGiven | undefined
}
type InteractionFilterName =
  | 'student_id'
  | 'user_id'
  | 'item_type'
  | 'item_id'
  | 'interaction_type'
  | 'platform'
  | 'source'

export type Interactions = {
  /**
   * Records one interaction. It is one interaction however often it has to be sent, and however often this is called with the
   * same idempotencyKey.
   */
  record: (
    interaction: Interaction,
    options?: CallOptions & { idempotencyKey?: string | undefined },
  ) => Promise<Interaction & { interaction_id: string; recorded_at: string }>
  /** Your organisation's interactions, newest first. What was recorded a moment ago may not be there yet. */
  list: (filter?: InteractionFilter, options?: ListOptions) => AsyncGenerator<RecordedInteraction, void, undefined>
}

export const createInteractions = (call: Call): Interactions => ({
  record: async (interaction, { idempotencyKey = newKey(), ...options } = {}) => {
    const body = toText(interaction)
    const { json } = await call({ method: 'POST', path: '/user-interactions', body, idempotencyKey }, options)
    return json as Interaction & { interaction_id: string; recorded_at: string }
  },
  list: (filter = {}, options = {}) =>
    eachOf<RecordedInteraction>(call, { path: '/user-interactions', name: 'interactions' }, filter, options),
})
