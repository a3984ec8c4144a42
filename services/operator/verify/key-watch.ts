import { placeOf } from '#platform/kafka/partitions.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { acceptedTopic } from '#schemas/derive/names.js'
import type { RecordType } from '#schemas/record.js'
import { createAcceptedDecoder } from '../desk/decoder.js'
import { type KeyState, seeVersion } from './key-states.js'
import { findRows } from './rows.js'
import { readFrom, type Subject } from './subject.js'

/** Follows some keys of an accepted topic: each look reads what was written since the last one. */
export const watchKeys = async (subject: Subject, type: RecordType, keys: ReadonlySet<string>) => {
  const { kafka, clickhouse } = subject
  const topic = acceptedTopic(type.type)
  const decode = createAcceptedDecoder(subject.registry, type)
  const states = new Map<string, KeyState>()
  const rows = new Map<string, number>()
  const read = new Map<string, number>()
  // A row in ClickHouse was an event once, perhaps before the range.
  for await (const found of findRows(clickhouse, type, [...keys]))
    for (const { org_id, id, version } of found) rows.set(`${org_id}/${id}`, version)

  return {
    look: async (): Promise<void> => {
      const stretches = (await stretchesOf(kafka, [topic], readFrom(subject))).map((stretch) => ({
        ...stretch,
        from: read.get(placeOf(stretch)) ?? stretch.from,
      }))
      await readTopics(kafka, stretches, async ({ messages }) => {
        for (const { key, offset, value } of messages) {
          if (key === null || !keys.has(key)) continue
          const head = await decode(value)
          if (head) seeVersion(states, key, head.version, offset)
        }
      })
      for (const stretch of stretches) read.set(placeOf(stretch), stretch.until)
    },
    /** Those whose last event is not their newest, and which version is. */
    turnedBack: (): { key: string; version: number }[] =>
      [...states].flatMap(([key, { last, highest }]) => {
        const version = Math.max(highest, rows.get(key) ?? 0)
        return last < version ? [{ key, version }] : []
      }),
  }
}
