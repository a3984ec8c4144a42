import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { publicTopicsOf } from '#schemas/derive/topic-reference/topic-reference.js'
import { eventTypesOf } from '#schemas/derive/typescript/event-types.js'

const topics = publicTopicsOf(catalogue).map(({ name }) => name)
const written = eventTypesOf(catalogue, topics)
const interfaceOf = (name: string) => new RegExp(`export interface ${name} {\\n(.*?)\\n}`, 's').exec(written)?.[1] ?? ''

it('has a type for the events of every public topic', () => {
  for (const topic of topics) {
    const [, name = ''] = new RegExp(`'${topic}': (\\w+)`).exec(interfaceOf('EventsByTopic')) ?? []
    expect(interfaceOf(name), topic).toMatch(/^ {2}org_id: string$/m)
  }
})

it('says what a decoder gives: numbers for times, null for what was left out, the words that are possible', () => {
  const shops = interfaceOf('ShopsEvent')
  expect(shops).toMatch(/milliseconds since 1970, UTC \*\/\n {2}accepted_at: number$/m)
  expect(shops).toMatch(/^ {2}is_public: boolean \| null$/m)
  expect(interfaceOf('InteractionsEvent')).toMatch(/^ {2}platform: 'ANDROID' \| 'IOS' \| 'WEB' \| 'OTHER' \| null$/m)
  expect(interfaceOf('RejectedEvent')).toMatch(
    /problems: \{\n {4}field: string \| null\n.*code: string\n.*\n {2}\}\[\]/s,
  )
})
