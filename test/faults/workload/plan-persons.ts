import { catalogue } from '#schemas/catalogue.js'
import type { RecordType } from '#schemas/record.js'
import type { Random } from '../random.js'
import type { Expected, InteractionStep, Plan, Planned, Step, UploadStep, WayToErase } from './plan.js'
import { createWriter, spoiled } from './plan-varied.js'

type Person = { customer: string; user: string } & WayToErase

const typeOf = (name: string) => catalogue.uploads.get(name) as RecordType
const [customers, transactions, favourites] = ['customers', 'transactions', 'student-favourites'].map(typeOf) as [
  RecordType,
  RecordType,
  RecordType,
]
// An erasure takes a minute; a client asks for one of each way, and goes on.
const ways: readonly WayToErase[] = [
  { mode: 'erase', afterwards: 'refuse' },
  { mode: 'erase', afterwards: 'new' },
  { mode: 'pseudonymise', afterwards: 'refuse' },
  { mode: 'pseudonymise', afterwards: 'new' },
]

/**
 * Customers with all that names them: taken, refused, waiting and since corrected, in the same requests as records of others. One after the
 * other is erased, and is sent again from then on, among others who stay. Some are erased but for sums, and some come back as somebody new.
 */
export const planPersons: Plan = function* (name, random) {
  const writer = createWriter(name, random)
  yield* writer.first()
  const erased: Person[] = []
  const records = createRecords(name, random, writer)
  const waysToCome = random.shuffled(ways)
  while (true) {
    const way = waysToCome.pop()
    if (way) {
      const person = { customer: random.uuid(), user: random.uuid(), ...way }
      for (const step of records.storyOf(person)) yield { ...step, owes: true }
      const comesBack = way.afterwards === 'new' ? records.returnOf(person) : []
      yield { kind: 'erase', ...person, by: random.pick(['customer', 'user']), comesBack, owes: true }
      erased.push(person)
    }
    for (let n = random.int(4, 12); n > 0; n--) yield records.again(random.pick(erased))
    yield { kind: 'look' }
  }
}

const createRecords = (name: string, random: Random, writer: ReturnType<typeof createWriter>) => {
  let markers = 0
  const others = (type: RecordType): Planned[] =>
    random.some(writer.idsOf(type), random.int(1, 3)).map((id) => writer.planned(type, id))
  const of = (type: RecordType, id: string, values: Record<string, unknown>, expected: Expected): Planned => {
    const { is_deleted: _, ...record } = writer.planned(type, id).record
    return { id, expected, record: { ...record, ...values } }
  }
  const together = (type: RecordType, ...own: Planned[]): UploadStep =>
    writer.upload(type, random.shuffled([...own, ...others(type)]))
  const customer = ({ customer: id, user }: Person, expected: Expected): Planned =>
    of(customers, id, { user_id: user }, expected)
  const purchase = ({ customer }: Person, expected: Expected, values = {}): Planned =>
    of(transactions, random.uuid(), { student_id: customer, ...values }, expected)
  const favourite = ({ customer }: Person, expected: Expected): Planned =>
    of(favourites, random.uuid(), { customer_id: customer }, expected)
  const interact = ({ user }: Person, expected: Expected): InteractionStep => ({
    kind: 'interaction',
    marker: user,
    key: `${name}-touch-${markers++}`,
    expected,
    body: {
      interaction_type: 'PAGE_VIEW',
      user_id: user,
      item_type: 'SHOP',
      item_id: random.pick(writer.idsOf(typeOf('shops'))),
      event_timestamp: 1_750_000_000 + markers,
    },
  })

  return {
    storyOf: function* (person: Person): Generator<Step> {
      yield together(customers, customer(person, 'accepted'))
      const corrected = purchase(person, 'accepted')
      yield together(transactions, purchase(person, 'accepted'), corrected, purchase(person, 'accepted'))
      // Of somebody else from now on: only its former version names the person.
      const [other] = writer.idsOf(customers)
      yield together(transactions, { ...corrected, record: { ...corrected.record, student_id: other } })
      yield together(favourites, favourite(person, 'accepted'))
      yield interact(person, 'accepted')
      yield together(transactions, spoiled(purchase(person, 'accepted'), random))
      const inVain = [purchase(person, 'waits', { shop_id: random.uuid() })]
      yield { ...writer.upload(transactions, inVain), waits: '1h' }
      if (random.chance(0.5)) yield interact(person, 'accepted')
    },
    /**
     * Somebody who does not know of the erasure goes on sending the person. Of one who comes back only records with ids of their own: whether
     * they are taken before, after or not at all is a matter of moments.
     */
    again: (person: Person): Step =>
      random.pick([
        () => together(transactions, purchase(person, 'erased')),
        () => together(favourites, favourite(person, 'erased')),
        ...(person.afterwards === 'new'
          ? []
          : [() => together(customers, customer(person, 'erased')), () => interact(person, 'erased')]),
      ])(),
    /** The same customer as somebody new. */
    returnOf: (person: Person): (UploadStep | InteractionStep)[] => {
      const asNew = (planned: Planned): Planned => ({ ...planned, asNew: true })
      return [
        together(customers, asNew(customer(person, 'accepted'))),
        together(transactions, asNew(purchase(person, 'accepted'))),
        together(favourites, asNew(favourite(person, 'accepted'))),
        { ...interact(person, 'accepted'), asNew: true },
      ]
    },
  }
}
