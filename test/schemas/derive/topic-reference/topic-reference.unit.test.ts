import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { topicReferenceOf } from '#schemas/derive/topic-reference/topic-reference.js'
import { topicsOf } from '#schemas/derive/topics.js'

const topics = topicReferenceOf(catalogue)
const topic = (name: string) => topics.find((each) => each.name === name)

it('tells of every topic but those between the services', () => {
  const all = topicsOf(catalogue).map(({ name }) => name)
  const told = topics.map(({ name }) => name)
  expect(all.filter((name) => !told.includes(name) && !name.startsWith('weir.submitted.'))).toEqual(['weir.verdicts'])
  expect(told.filter((name) => !all.includes(name))).toEqual([])
})

it('says in words how long events are kept, and what is promised', () => {
  expect(topic('weir.accepted.offers')).toMatchObject({
    type: 'offers',
    key: '<org_id>/<offer_id>',
    cleanup: 'compact',
    retention: 'the newest event of each key for ever, older ones for at least 7 days',
  })
  expect(topic('weir.interactions')).toMatchObject({
    key: '<org_id>/<interaction_id>',
    retention: '365 days',
    cleanup: 'delete',
  })
  expect(topic('weir.rejected')).toMatchObject({ type: null, retention: '90 days', cleanup: 'delete' })
  for (const { name, promises, about } of topics) {
    expect(promises.length, name).toBeGreaterThan(1)
    expect(promises.join(' '), name).toMatch(/may come again/)
    expect(about, name).not.toBe('')
  }
})

it('gives each topic the schema that is in the registry, and consumers that read just this topic', () => {
  const schemas = schemasByTopic(catalogue.all.values())
  for (const { name, schema, snippets } of topics) {
    expect(schema, name).toEqual(schemas.get(name))
    for (const text of Object.values(snippets)) expect(text).toMatch(new RegExp(`["']${name}["']`))
  }
})

it('lets the consumers look where a system is', () => {
  const addresses = { brokers: 'one:9093,two:9093', registry: 'https://registry.example.com' }
  const [{ snippets } = { snippets: { typescript: '', python: '', java: '' } }] = topicReferenceOf(catalogue, {
    addresses,
  })
  expect(snippets.typescript).toContain(`brokers: ['one:9093', 'two:9093']`)
  expect(snippets.python).toContain(`'bootstrap.servers': 'one:9093,two:9093'`)
  for (const text of Object.values(snippets)) {
    expect(text).toContain('https://registry.example.com')
    expect(text).not.toContain('127.0.0.1')
  }
})
