import { readFileSync } from 'node:fs'
import { AvroSchemaParser } from '@asyncapi/avro-schema-parser'
import { Parser } from '@asyncapi/parser'
import avro from 'avsc'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { asyncapiYaml } from '#schemas/derive/topic-reference/asyncapi.js'
import { publicTopicsOf } from '#schemas/derive/topic-reference/topic-reference.js'

const published = readFileSync(new URL('../../../../schemas/published/asyncapi.yaml', import.meta.url), 'utf8')

const parser = new Parser()
parser.registerSchemaParser(AvroSchemaParser())
/** The document, and what its makers' rules have against it; that there is a newer version of AsyncAPI is only advice. */
const read = async (text: string) => {
  const { document, diagnostics } = await parser.parse(text)
  const problems = diagnostics.filter(({ severity }) => severity < 2)
  return { document, problems: problems.map(({ path, message }) => `${path.join('/')}: ${message}`) }
}

it('is valid by the rules of AsyncAPI, its Kafka bindings and its Avro too', async () => {
  const { document, problems } = await read(published)
  expect(problems).toEqual([])
  expect(document?.version()).toBe('3.0.0')
  expect(document?.channels().all()).toHaveLength(publicTopicsOf(catalogue).length)
})

it('would not be with a field that has no name, or a binding with a word that Kafka does not know', async () => {
  const wrong = published.replace('- name: shop_id', '- nam: shop_id').replace('- compact', '- compress')
  const problems = (await read(wrong)).problems.join('\n')
  expect(problems).toMatch(/fields\/5: .*required property "name"/)
  expect(problems).toMatch(/cleanup\.policy\/0: .*"compact", "delete"/)
})

it('carries the schemas of the registry, unchanged by how they are written', () => {
  const { components } = parse(published)
  const schemas = schemasByTopic(catalogue.all.values())
  for (const { name } of publicTopicsOf(catalogue)) {
    const { schema } = components.messages[name].payload
    expect(schema, name).toEqual(schemas.get(name))
    expect(() => avro.Type.forSchema(schema), name).not.toThrow()
  }
})

it('says of a topic what is on it, its key, its partitions and how it is kept', async () => {
  const { channels, components, operations } = parse(published)
  expect(channels['weir.accepted.shops']).toMatchObject({
    address: 'weir.accepted.shops',
    summary: 'A shop that takes part.',
    bindings: { kafka: { partitions: 4, topicConfiguration: { 'cleanup.policy': ['compact'] } } },
  })
  expect(channels['weir.interactions'].bindings.kafka).toMatchObject({
    partitions: 12,
    topicConfiguration: { 'cleanup.policy': ['delete'], 'retention.ms': 365 * 24 * 60 * 60 * 1000 },
  })
  expect(components.messages['weir.rejected'].bindings.kafka.key.description).toContain('<org_id>/<batch_id>')
  expect(operations['publish.weir.rejected']).toMatchObject({ action: 'send' })
})

it('keeps to itself how the services talk to each other', () => {
  expect(published).not.toContain('weir.submitted')
  expect(published).not.toContain('weir.verdicts')
})

it('has the partitions of the system that serves it', () => {
  const wide = parse(asyncapiYaml(catalogue, { lanes: 2, submittedPartitions: 6, acceptedPartitions: 8 }))
  expect(wide.channels['weir.accepted.shops'].bindings.kafka.partitions).toBe(8)
  expect(wide.channels['weir.interactions'].bindings.kafka.partitions).toBe(24)
})
