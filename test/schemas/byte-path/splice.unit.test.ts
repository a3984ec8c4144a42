import avro from 'avsc'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bodyOf, headerLength, headerOf } from '#platform/registry.js'
import { CutOff } from '#schemas/byte-path/plain-avro.js'
import { createScanBatch } from '#schemas/byte-path/scan-batch.js'
import { createSplice } from '#schemas/byte-path/spliced-events.js'
import { catalogue } from '#schemas/catalogue.js'
import { acceptedSchema, submittedSchema } from '#schemas/derive/avro.js'
import { createEventsOf, type PlacedVerdict } from '#schemas/derive/decided-events.js'
import type { SubmittedBatch } from '#schemas/events.js'
import type { RecordType } from '#schemas/record.js'
import { anyBatch, anyVerdictOn } from '../../support/any-batch.js'
import { batchOf, refusalOf, submittedMessage } from '../../support/batch.js'
import { sampleOf } from '../../support/sample.js'
import { sized } from '../../support/sized.js'

const acceptedId = 300
const batchAndVerdict = (type: RecordType) =>
  anyBatch(type).chain((batch) => fc.tuple(fc.constant(batch), anyVerdictOn(batch)))

/** The events of a message as the Avro library makes them: decoded, put together, encoded. */
const createReference = (type: RecordType) => {
  const submitted = avro.Type.forSchema(submittedSchema(type) as avro.Schema)
  const accepted = avro.Type.forSchema(acceptedSchema(type) as avro.Schema)
  const events = createEventsOf(type)
  const decode = (message: Buffer): SubmittedBatch => submitted.fromBuffer(bodyOf(message))
  return {
    decode,
    eventsOf: (message: Buffer, verdict: PlacedVerdict) => {
      const batch = decode(message)
      return {
        accepted: events.accepted(batch, verdict).map((event) => ({
          id: String(event[type.id]),
          value: Buffer.concat([headerOf(acceptedId), accepted.toBuffer(event)]),
        })),
        rejected: events.rejected(batch, verdict),
      }
    },
  }
}

const createSubject = (type: RecordType) => {
  const scan = createScanBatch(type)
  const splice = createSplice(type, headerOf(acceptedId))
  return {
    scan: (message: Buffer) => scan(message, headerLength),
    eventsOf: (message: Buffer, verdict: PlacedVerdict) => {
      const batch = scan(message, headerLength)
      return batch && { accepted: splice.accepted(batch, verdict), rejected: splice.rejected(batch, verdict) }
    },
  }
}

describe.each([...catalogue.all.values()])('$type', (type) => {
  const reference = createReference(type)
  const subject = createSubject(type)

  it('makes the same events, byte for byte, as decoding and encoding', () => {
    fc.assert(
      fc.property(batchAndVerdict(type), ([batch, verdict]) => {
        const message = submittedMessage(type, batch)
        expect(subject.eventsOf(message, verdict)).toEqual(reference.eventsOf(message, verdict))
      }),
      { numRuns: sized(8, 50), endOnFailure: true },
    )
  })

  it('reads of a batch what decoding gives, and of each record a part of it', () => {
    fc.assert(
      fc.property(anyBatch(type), (batch) => {
        const { records, ...decoded } = reference.decode(submittedMessage(type, batch))
        const scanned = subject.scan(submittedMessage(type, batch))
        expect(scanned).toMatchObject(decoded)
        expect(records.map(({ index }) => index)).toEqual(scanned?.records.map(({ index }) => index))
        for (const [place, record] of (scanned?.records ?? []).entries()) {
          expect(records[place]).toMatchObject(record)
          expect(Object.keys(record)).toContain(type.id)
        }
      }),
      { numRuns: sized(5, 20), endOnFailure: true },
    )
  })

  it('takes no message for whole that was cut off', () => {
    const message = submittedMessage(type, batchOf(type, [sampleOf(type)], { refusals: [refusalOf(1)] }))
    for (let end = headerLength; end < message.length; end++) {
      const cut = message.subarray(0, end)
      expect(() => subject.scan(cut)).toThrow(CutOff)
      expect(() => reference.decode(cut)).toThrow()
    }
  })

  it('gives of a message with a changed byte the events of the changed message, or leaves it to the Avro library', () => {
    const damaged = fc.tuple(batchAndVerdict(type), fc.nat(), fc.nat(255))
    fc.assert(
      fc.property(damaged, ([[batch, verdict], at, byte]) => {
        const message = submittedMessage(type, batch)
        message[headerLength + (at % (message.length - headerLength))] = byte
        const events = outcomeOf(() => subject.eventsOf(message, verdict))
        // Not plain, or cut off: the Avro library is asked, or nobody.
        if (events === undefined || events === 'CutOff') return
        expect(events).toEqual(outcomeOf(() => reference.eventsOf(message, verdict)))
      }),
      { numRuns: sized(15, 100), endOnFailure: true },
    )
  })
})

/** What it gives, or the kind of its error: of a record whose time is no time, no rejection can be made. */
const outcomeOf = <T>(work: () => T): T | string => {
  try {
    return work()
  } catch (error) {
    return (error as Error).constructor.name
  }
}
