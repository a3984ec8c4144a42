import type { Rejection } from '../observe/observed.js'
import type { ToldInteraction } from '../workload/ledger.js'
import type { Check, Finding } from './finding.js'
import { groupBy } from './writes.js'

/** Every acknowledged interaction is there once, also one that waited; a refused one is among the rejections alone. */
export const checkInteractions: Check = (ledger, observed) => {
  const rows = groupBy(observed.views.interactions ?? [], ({ user_id }) => String(user_id))
  const events = groupBy(
    observed.topics.filter(({ topic }) => topic === 'weir.interactions'),
    ({ value }) => String(value.user_id),
  )
  const rejections = groupBy(
    observed.rejections.filter(({ type }) => type === 'interactions'),
    markerOf,
  )
  const known = new Set(ledger.interactions.map(({ step }) => step.marker))

  const checkOne = (told: ToldInteraction): Finding[] => {
    const { marker } = told.step
    const inView = rows.get(marker) ?? []
    const onTopic = events.get(marker) ?? []
    const refused = rejections.get(marker) ?? []
    const refusals = refused.length
    const later = observed.requests.get(told.requestId ?? '')
    const statuses = later?.batches?.map(({ status }) => status)
    // Of a request with several, a status says nothing about one of them; that all is decided is said by each.
    const isAsTold = told.isOneOfMany
      ? statuses?.every((status) => status === 200 || status === 207 || status === 400)
      : statuses?.join() === (told.outcome === 'refused' ? '400' : '200')
    // One that the edge refuses travels with the next batch, and dies with the edge.
    const mayBeLost = told.step.expected === 'invalid'
    const find = (name: string, isSo: boolean, about: string): Finding[] =>
      isSo ? [{ name, about: `interaction ${marker}, ${told.outcome} after ${told.attempts} attempts: ${about}` }] : []
    const isTaken = told.outcome === 'accepted' || told.outcome === 'waits'
    const wanted = isTaken ? 1 : told.outcome === 'refused' ? 0 : Math.min(1, onTopic.length)
    return [
      ...find('lost-from-view', inView.length < wanted, 'not in the view'),
      ...find('twice-in-view', inView.length > Math.max(wanted, 1), `${inView.length} times in the view`),
      ...find('stranger-in-view', wanted === 0 && inView.length > 0, 'in the view all the same'),
      ...find('lost-from-topic', onTopic.length < wanted, 'not on its topic'),
      ...find('stranger-on-topic', wanted === 0 && onTopic.length > 0, 'on its topic all the same'),
      ...find('differing-events', new Set(onTopic.map(({ bytes }) => bytes)).size > 1, 'more than one event'),
      ...find(
        'told-differently',
        told.interactionId !== null && inView.some(({ interaction_id }) => interaction_id !== told.interactionId),
        `the client was told ${told.interactionId}`,
      ),
      // Each attempt is refused by itself.
      ...find('lost-rejection', told.outcome === 'refused' && !mayBeLost && refusals === 0, 'not among the rejections'),
      ...find(
        'request-disagrees',
        told.outcome !== 'doubtful' && !mayBeLost && !isAsTold,
        `request ${told.requestId}: ${JSON.stringify(later)}`,
      ),
      // With a key, all attempts have one request id; without one, there is one attempt.
      ...find(
        'rejected-under-another-id',
        told.requestId !== null && refused.some(({ request_id }) => request_id !== told.requestId),
        `the client was told ${told.requestId}, and not ${refused.map(({ request_id }) => request_id).join()}`,
      ),
      ...find('rejected-twice', refusals > told.attempts, `${refusals} times among the rejections`),
      ...find('stranger-in-rejections', isTaken && refusals > 0, 'among the rejections too'),
    ]
  }
  return [
    ...ledger.interactions.flatMap(checkOne),
    ...[...rows.keys(), ...events.keys(), ...rejections.keys()]
      .filter((marker) => !known.has(marker))
      .map((marker) => ({ name: 'stranger-interaction', about: marker })),
  ]
}

const markerOf = ({ record }: Rejection): string => String((JSON.parse(record) as { user_id?: unknown }).user_id)
