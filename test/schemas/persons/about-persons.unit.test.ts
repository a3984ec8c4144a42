import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { openapiOf } from '#schemas/derive/openapi.js'
import { typeReferencesOf } from '#schemas/derive/type-reference/type-reference.js'
import { impersonal, naming, optional, personal, reference, text, uuid } from '#schemas/field.js'
import {
  maskedFieldsOf,
  personalFieldsOf,
  personFieldsOf,
  staysWithoutPerson,
  typesOfPersons,
} from '#schemas/persons/about-persons.js'
import { columnsOf, lifecycle, type RecordType, record } from '#schemas/record.js'

const typeCalled = (name: string) => catalogue.all.get(name) as RecordType

it('knows the types that name persons, and by which fields', () => {
  expect(Object.fromEntries(typesOfPersons(catalogue).map((type) => [type.type, personFieldsOf(type)]))).toEqual({
    customers: [
      { field: 'customer_id', names: 'customer', required: true },
      { field: 'user_id', names: 'user', required: true },
    ],
    transactions: [{ field: 'student_id', names: 'customer', required: false }],
    'student-favourites': [{ field: 'customer_id', names: 'customer', required: true }],
    interactions: [
      { field: 'user_id', names: 'user', required: false },
      { field: 'student_id', names: 'customer', required: false },
    ],
  })
})

it('knows which records stay when the person is taken out, and which can only go', () => {
  const stay = typesOfPersons(catalogue).map((type) => [type.type, staysWithoutPerson(type)])
  expect(Object.fromEntries(stay)).toEqual({
    customers: false,
    transactions: true,
    'student-favourites': false,
    interactions: true,
  })
})

it('knows what is personal, and what is masked with it', () => {
  expect(personalFieldsOf(typeCalled('customers'))).toEqual([
    'region',
    'birthdate',
    'institute_id',
    'course_id',
    'gender',
  ])
  expect(personalFieldsOf(typeCalled('interactions'))).toEqual(['city', 'country'])
  expect(maskedFieldsOf(typeCalled('transactions'))).toEqual(['student_id'])
  expect(maskedFieldsOf(typeCalled('interactions'))).toEqual(['user_id', 'student_id', 'city', 'country'])
  expect(maskedFieldsOf(typeCalled('shops'))).toEqual([])
})

const diary = (more: RecordType['fields']) =>
  record({
    type: 'diaries',
    id: 'diary_id',
    about: 'What a student notes.',
    fields: {
      diary_id: impersonal(uuid()),
      customer_id: naming('customer', reference('customers')),
      ...more,
      ...lifecycle,
    },
  })

it('takes no field of a type that names persons that does not say what it is', () => {
  expect(() => diary({ mood: text(), place: optional(text()) })).toThrow(
    'diaries names persons, so each of its fields says what it is: naming(), personal() or impersonal(); missing at mood, place',
  )
  expect(personalFieldsOf(diary({ mood: personal(text()), place: impersonal(text()) }))).toEqual(['mood'])
})

it('has no type that refers to the record of a person without naming the person', () => {
  // The id of such a type is a person's, wherever else it stands.
  const persons = typesOfPersons(catalogue).filter(({ id, fields }) => typeof fields[id]?.ofPerson === 'object')
  expect(persons.map(({ type }) => type)).toEqual(['customers'])
  const forgotten = [...catalogue.all.values()].flatMap((type) =>
    Object.entries(columnsOf(type)).flatMap(([name, field]) => {
      const to = field.kind === 'reference' ? [field.to] : field.kind === 'item' ? Object.values(field.kinds) : []
      const refersToPerson = persons.some((person) => to.includes(person.type))
      return refersToPerson && typeof field.ofPerson !== 'object' ? [`${type.type}.${name}`] : []
    }),
  )
  expect(forgotten).toEqual([])
})

it('says in the reference and in the document what a field has to do with a person', () => {
  const customers = typeReferencesOf(catalogue, 'http://localhost').find(({ type }) => type === 'customers')
  const said = customers?.fields.flatMap(({ name, of_person }) => (of_person ? [[name, of_person]] : []))
  expect(Object.fromEntries(said ?? [])).toEqual({
    customer_id: 'pseudonym',
    user_id: 'pseudonym',
    region: 'personal',
    birthdate: 'personal',
    institute_id: 'personal',
    course_id: 'personal',
    gender: 'personal',
  })
  expect(openapiOf(catalogue)).toHaveProperty(
    ['components', 'schemas', 'customers', 'properties', 'customer_id', 'description'],
    'record identifier; names a person, as a customer',
  )
})
