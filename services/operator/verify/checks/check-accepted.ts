import type { Received } from '#platform/kafka/kafka.js'
import { placeOf } from '#platform/kafka/partitions.js'
import type { Stretch } from '#platform/kafka/read-topics.js'
import { acceptedTopic } from '#schemas/derive/names.js'
import { placeOfVersion } from '#schemas/version.js'
import { type AcceptedHead, createAcceptedDecoder, type Decode } from '../../command/decoder.js'
import { markOf } from '../expectations.js'
import { idOf, type KeyState, type KeysByPlace, newerThanLast, orgOf, seeVersion } from '../key-states.js'
import { countOf } from '../read-submitted.js'
import { type CheckedType, readFrom, type Subject } from '../subject.js'
import { checkRows } from './check-rows.js'
import { forgiveCompacted, forgiveGone, noteMissing } from './missing.js'

/** A key whose last event is not its newest. */
export type TurnedBack = { type: string; key: string }

/**
 * Compares the accepted topics, read to their ends, with what was expected, and ClickHouse with the topics. `written`: up to
 * where the sink has committed. `isPublished`: whether integrity has published the batch at an offset.
 */
export const checkAccepted = async (
  subject: Subject,
  written: ReadonlyMap<string, number>,
  isPublished: (type: string, key: string, offset: number) => boolean,
): Promise<TurnedBack[]> => {
  const { topics, types } = subject
  const stretches = await topics.stretches([...types.keys()].map(acceptedTopic), readFrom(subject))
  const progress = subject.progress('accepted', countOf(stretches))
  const readers = new Map(
    [...types.values()].map((one) => [
      acceptedTopic(one.type.type),
      { one, decode: createAcceptedDecoder(subject.registry, one.type) },
    ]),
  )
  const turnedBack: TurnedBack[] = []

  const read = async (pack: readonly Stretch[], keys: KeysByPlace): Promise<void> => {
    await topics.read(pack, async ({ topic, partition, messages }) => {
      const reader = readers.get(topic)
      const states = keys.get(placeOf({ topic, partition }))
      if (!reader || !states) throw new Error(`${topic}/${partition} was not asked for`)
      for (const message of messages)
        await see(subject, reader.one, states, { topic, partition }, message, reader.decode)
      progress.advance(messages.length)
    })
  }

  for (const pack of packsOf(stretches)) {
    const keys = new Map(pack.map((stretch) => [placeOf(stretch), new Map<string, KeyState>()]))
    await read(pack, keys)
    await checkRows(subject, pack, keys, written, async () => {
      // A row can be newer than all that was read: then its event was written meanwhile.
      const ends = new Map(pack.map((stretch) => [placeOf(stretch), stretch.until]))
      const now = await topics.stretches([...new Set(pack.map(({ topic }) => topic))])
      const later = now.flatMap((stretch) => {
        const from = ends.get(placeOf(stretch))
        return from === undefined ? [] : [{ ...stretch, from }]
      })
      await read(later, keys)
    })
    for (const { topic, partition } of pack) {
      const type = readers.get(topic)?.one.type.type ?? topic
      turnedBack.push(...noteTurnedBack(subject, type, placeOf({ topic, partition }), keys, isPublished))
    }
  }
  progress.end()
  for (const one of types.values()) {
    forgiveGone(one)
    await forgiveCompacted(subject, one)
    noteMissing(subject, one, 'accepted')
  }
  return turnedBack
}

/** One message of an accepted topic: kept as the state of its key, and compared with what was expected. */
const see = async (
  subject: Subject,
  { type, counts, expectations, gone }: CheckedType,
  states: Map<string, KeyState>,
  { topic, partition }: { topic: string; partition: number },
  { offset, timestamp, key, value }: Received,
  decode: Decode<AcceptedHead>,
): Promise<void> => {
  const orgId = orgOf(key ?? '')
  if (subject.org !== undefined && orgId !== subject.org) return
  if (value === null && key !== null) {
    // The record is gone: nothing that came before has to be there any more, on the topic or in ClickHouse.
    states.delete(key)
    gone.set(markOf(key), timestamp)
    return
  }
  const head = await decode(value)
  if (!head || key === null) {
    counts.unreadable++
    return
  }
  seeVersion(states, key, head.version, offset)
  const seen = expectations.seeAccepted({ orgId, id: idOf(key), key, batchId: head.batch_id, version: head.version })
  if (seen.as === 'expected') counts.onTopic++
  if (seen.as !== 'unfounded') return
  const where = `${topic}/${partition}@${offset} ${key}`
  const found = `version ${head.version} of batch ${head.batch_id}, which was not accepted`
  subject.differences.add({ kind: 'event_unfounded', type: type.type, where, found })
}

const noteTurnedBack = (
  { differences }: Subject,
  type: string,
  place: string,
  keys: KeysByPlace,
  isPublished: (type: string, key: string, offset: number) => boolean,
): TurnedBack[] => {
  const turnedBack: TurnedBack[] = []
  for (const [key, state] of keys.get(place) ?? []) {
    const newest = newerThanLast(state)
    if (newest === undefined) continue
    // Integrity may be publishing this key again at this moment, from an older event on.
    if (!isPublished(type, key, placeOfVersion(newest).offset)) continue
    turnedBack.push({ type, key })
    const found = `its last event has version ${state.last}, its newest ${newest}`
    differences.add({ kind: 'event_turned_back', type, where: `${place} ${key}`, found })
  }
  return turnedBack
}

/** How many messages are held as keys at a time; a partition with more is a pack of its own. */
const mostInPack = 1_000_000

/** Small stretches together, so that few readers are opened; a large one alone, so that few keys are held. */
const packsOf = (stretches: readonly Stretch[]): Stretch[][] => {
  const packs: Stretch[][] = []
  let size = 0
  for (const stretch of stretches) {
    const more = stretch.until - stretch.from
    if (more <= 0) continue
    const last = packs.at(-1)
    if (last && size + more <= mostInPack) {
      last.push(stretch)
      size += more
    } else {
      packs.push([stretch])
      size = more
    }
  }
  return packs
}
