import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { topicReferenceOf } from '#schemas/derive/topic-reference/topic-reference.js'
import { interaction } from '#schemas/records/interaction.js'
import { shop } from '#schemas/records/shop.js'
import { openConsumers } from '../support/consumers.js'
import { sampleOf } from '../support/sample.js'
import { beginHere } from '../support/system/groups.js'
import { newOrganisation, system } from '../support/system/system.js'

// The consumers that are shown for each topic, in each language, with their addresses and their group changed and nothing else.
const org = await newOrganisation('subscriptions')
const topics = topicReferenceOf(catalogue, {
  addresses: { brokers: system.env.KAFKA_BROKERS, registry: system.env.SCHEMA_REGISTRY_URL },
})

const read = ['weir.accepted.shops', 'weir.interactions', 'weir.rejected']
const languages = ['typescript', 'python', 'java'] as const
const groupOf = (language: string): string => `${org.name}-${language}`

let consumers: Awaited<ReturnType<typeof openConsumers>>
/** What the events on each topic show. */
const shown: Record<string, string[]> = {}
beforeAll(async () => {
  consumers = await openConsumers()
  await beginHere(system.env.KAFKA_BROKERS, languages.map(groupOf), read)
  const record = sampleOf(shop, { name: 'Harbour Books' })
  const { body } = await org.uploader.upload('shops', [record, { shop_id: 'nothing else' }])
  const given = sampleOf(interaction, { student_id: null, item_type: 'SHOP', item_id: record.shop_id })
  const { body: recorded } = await org.uploader.interact<{ interaction_id: string }>(given)
  shown['weir.accepted.shops'] = [`${org.name}/${record.shop_id} `, 'Harbour Books']
  shown['weir.interactions'] = [`${org.name}/${recorded.interaction_id} `, String(record.shop_id)]
  shown['weir.rejected'] = [`${org.name}/${body.batches[0]?.data.batch_id} `, 'missing_field']
})
afterAll(() => rm(consumers.folder, { recursive: true, force: true }))

describe.each(languages)('in %s', (language) => {
  it.for(read)('reads %s until Ctrl-C', async (name, { skip }) => {
    const text = topics.find((topic) => topic.name === name)?.snippets[language] ?? ''
    const ended = await consumers.runUntil(language, text.replace('my-team', groupOf(language)), shown[name] ?? [])
    if ('whyNot' in ended) return skip(ended.whyNot)
    expect(ended.isWell, ended.printed).toBe(true)
  })
})
