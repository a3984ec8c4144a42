import { expect, it } from 'vitest'
import { refuseOtherPartitions } from '#ledger/layout/check-layout.js'
import { usualLayout } from '#schemas/derive/topics.js'
import { chooseLayout, nothingKnown } from '../../../../services/operator/provision/layout.js'

const fresh = { ...nothingKnown, stored: undefined }
const old = { ...fresh, hasDecided: true, submittedPartitions: 4, acceptedPartitions: 4 }
const wide = { lanes: 4, submittedPartitions: 24, acceptedPartitions: 12 }
const nothing = { newPartitions: undefined }

it.each([
  ['a new system is as wide as ever', fresh, nothing, usualLayout],
  [
    'a new one as wide as the environment says',
    fresh,
    { ...nothing, LANES: 4, SUBMITTED_PARTITIONS: 24, ACCEPTED_PARTITIONS: 12 },
    wide,
  ],
  [
    'a new one as wide as the caller says, where the environment does not',
    fresh,
    { newPartitions: 24, ACCEPTED_PARTITIONS: 12 },
    { ...wide, lanes: 1 },
  ],
  ['one that was made before keeps its partitions, whatever the caller says', old, { newPartitions: 24 }, usualLayout],
  ['one with a stored layout keeps it', { ...fresh, stored: wide }, { newPartitions: 48, LANES: 4 }, wide],
  [
    'topics that a first provisioning has made before it was cut off are kept, with the lanes that are asked for',
    { ...old, hasDecided: false },
    { ...nothing, LANES: 3 },
    { ...usualLayout, lanes: 3 },
  ],
])('%s', (_, facts, wish, expected) => {
  expect(chooseLayout(facts, wish)).toEqual(expected)
})

it.each([
  [
    { ...fresh, stored: wide },
    { ...nothing, LANES: 8 },
    'LANES=8 was asked for, and this system has LANES=4: set LANES=4, or unset LANES. Lanes and submitted',
  ],
  [
    old,
    { ...nothing, LANES: 2, SUBMITTED_PARTITIONS: 8 },
    'this system has LANES=1 SUBMITTED_PARTITIONS=4: ' +
      'set LANES=1 SUBMITTED_PARTITIONS=4, or unset LANES and SUBMITTED_PARTITIONS',
  ],
  [
    fresh,
    { ...nothing, LANES: 8 },
    'LANES=8 needs as many partitions, and there are 4: set SUBMITTED_PARTITIONS=8 or more',
  ],
])('refuses %j for %j', (facts, wish, message) => {
  expect(() => chooseLayout(facts, wish)).toThrow(message)
})

it('refuses topics with other counts than the stored ones, and names them', () => {
  const found = new Map([
    ['weir.submitted.shops', 24],
    ['weir.submitted.tags', 4],
    ['weir.interactions', 36],
    ['weir.verdicts', 1],
  ])
  expect(() => refuseOtherPartitions(wide, found)).toThrow('weir.submitted.tags has 4 instead of 24. Is KAFKA_BROKERS')
  found.set('weir.submitted.tags', 24)
  expect(() => refuseOtherPartitions(wide, found)).not.toThrow()
})
