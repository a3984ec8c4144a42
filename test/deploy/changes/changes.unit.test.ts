import { expect, it } from 'vitest'
import type { PublishedFiles } from '../../../deploy/changes/change.js'
import { changesBetween, writeChanges } from '../../../deploy/changes/changes.js'
import { publishedAt, publishedHere } from '../../../deploy/changes/read-published.js'
import { catalogue } from '../../../schemas/catalogue.js'
import { clientFiles, publishedFiles } from '../../../schemas/derive/published.js'
import { type Field, number, optional, text } from '../../../schemas/field.js'
import type { RecordType } from '../../../schemas/record.js'
import { packageRoot } from '../../../services/platform/process/package-root.js'

const here = publishedHere()

/** What would be published if shops had these fields. */
const withShops = (change: (fields: Record<string, Field>) => void): PublishedFiles => {
  const shops = catalogue.all.get('shops') as RecordType
  const fields = { ...shops.fields }
  change(fields)
  const swap = (types: ReadonlyMap<string, RecordType>) => new Map(types).set('shops', { ...shops, fields })
  const changed = { ...catalogue, all: swap(catalogue.all), uploads: swap(catalogue.uploads) }
  const published = [...publishedFiles(changed)].map(([name, text]): [string, string] => [
    `schemas/published/${name}`,
    text,
  ])
  return new Map([...published, ...clientFiles(changed)])
}
const linesOf = (before: PublishedFiles, after: PublishedFiles): string[] =>
  changesBetween(before, after).map(
    ({ audience, breaking, about }) => `${audience}, ${breaking ? 'breaks' : 'adds'}: ${about}`,
  )

it('finds nothing between a state and itself', () => {
  expect(changesBetween(here, here)).toEqual([])
  expect(writeChanges('v1', [])).toMatch(/Nothing changes[\s\S]*0 changes since v1, none of which breaks anything\.$/)
})

it('reads the state in a folder, and knows nothing of a name that is neither a folder nor in git', () => {
  expect(changesBetween(publishedAt(packageRoot) ?? new Map(), here)).toEqual([])
  expect(publishedAt('no-such-tag')).toBeUndefined()
})

it('names a new optional field once for each audience, and nothing breaks', () => {
  const lines = linesOf(
    here,
    withShops((fields) => Object.assign(fields, { colour: optional(text('what colour it is')) })),
  )
  expect(lines).toEqual([
    'uploaders, adds: shops.colour is new and optional: string or null',
    'topics, adds: weir.accepted.shops: the field colour is new and optional: string or null',
    'tables, adds: weir.shops.colour is new: Nullable(String)',
    'tables, adds: weir.shops_history.colour is new: Nullable(String)',
    'SDK types, adds: ShopsRecord.colour is new and optional: null | string | undefined',
    'SDK types, adds: ShopsEvent.colour is new: null | string',
  ])
})

it('says for whom a field that goes, or becomes required, breaks something', () => {
  const colour = { colour: optional(text()) }
  const gone = linesOf(
    withShops((fields) => Object.assign(fields, colour)),
    here,
  )
  for (const audience of ['uploaders', 'topics', 'tables', 'SDK types'])
    expect(gone.filter((line) => line.startsWith(audience)).join('\n')).toMatch(/breaks: .*colour is gone/)

  const required = linesOf(
    here,
    withShops((fields) => Object.assign(fields, { colour: text() })),
  )
  expect(required).toEqual(
    expect.arrayContaining([
      'uploaders, breaks: shops.colour is now required',
      'topics, breaks: weir.accepted.shops: the field colour is new and always there, so that events from before cannot be read with it',
      'SDK types, breaks: ShopsRecord.colour is new and required',
    ]),
  )
})

it('says for whom another kind or a tighter bound breaks something', () => {
  const other = linesOf(
    here,
    withShops((fields) => Object.assign(fields, { name: number({ above: 0 }, 'its name') })),
  )
  expect(other).toEqual(
    expect.arrayContaining([
      'uploaders, breaks: shops.name was string and is number',
      'topics, breaks: weir.accepted.shops: the field name was string and is double',
      'tables, breaks: weir.shops.name was String and is Float64',
      'SDK types, breaks: ShopsRecord.name was string and is number',
      'SDK types, breaks: ShopsEvent.name was string and is number',
    ]),
  )
  const shorter = withShops((fields) => Object.assign(fields, { name: text('its name', { longest: 10 }) }))
  expect(linesOf(here, shorter)).toEqual(['uploaders, breaks: shops.name has a lower maxLength: 10, was 4096'])
  expect(linesOf(shorter, here)).toEqual(['uploaders, adds: shops.name has a higher maxLength: 4096, was 10'])
})

it('names a new type and what comes with it, and one that goes', () => {
  const without = (files: PublishedFiles): PublishedFiles => {
    const openapi = JSON.parse(files.get('schemas/published/openapi.json') ?? '')
    for (const path of Object.keys(openapi.paths)) if (path.endsWith('/tags')) delete openapi.paths[path]
    delete openapi.components.schemas.tags
    return new Map([
      ...[...files].filter(([path]) => !path.includes('.tags.')),
      ['schemas/published/openapi.json', JSON.stringify(openapi)],
    ])
  }
  expect(linesOf(without(here), here)).toEqual(
    expect.arrayContaining([
      'uploaders, adds: the type tags is new',
      'uploaders, adds: POST /v1/data/tags is new',
      'topics, adds: the topic weir.accepted.tags is new',
    ]),
  )
  const gone = linesOf(here, without(here))
  expect(gone).toContain('topics, breaks: the topic weir.accepted.tags is gone')
  expect(gone.filter((line) => line.includes('adds'))).toEqual([])
})

it('says that a topic keeps less, and of topics between the services only what breaks', () => {
  const edit = (path: string, change: (value: unknown) => unknown) =>
    new Map(here).set(path, JSON.stringify(change(JSON.parse(here.get(path) ?? ''))))
  const less = edit('schemas/published/topics.json', (topics) =>
    (topics as { name: string; config: object }[]).map((topic) =>
      topic.name === 'weir.rejected' ? { ...topic, config: { ...topic.config, 'retention.ms': '1000' } } : topic,
    ),
  )
  expect(linesOf(here, less)).toEqual(['topics, breaks: weir.rejected: retention.ms was 7776000000 and is 1000'])
  expect(linesOf(less, here)).toEqual(['topics, adds: weir.rejected: retention.ms was 1000 and is 7776000000'])

  const field = { name: 'more', type: ['null', 'string'] }
  const submitted = (extra: object) =>
    edit('schemas/published/weir.verdicts.avsc', (schema) => {
      const { fields, ...rest } = schema as { fields: unknown[] }
      return { ...rest, fields: [...fields, { ...field, ...extra }] }
    })
  expect(linesOf(here, submitted({ default: null }))).toEqual([])
  expect(linesOf(here, submitted({})).join()).toContain('weir.verdicts: the field more is new and always there')
})

it('writes what can be pasted into the changelog, and what to do', () => {
  const written = writeChanges('v1.0.0', [
    { audience: 'uploaders', breaking: true, about: 'shops.region is gone' },
    { audience: 'uploaders', breaking: false, about: 'shops.colour is new' },
  ])
  expect(written).toContain('### For uploaders\n\n- **Breaks:** shops.region is gone\n- shops.colour is new\n')
  expect(written).toMatch(/2 changes since v1\.0\.0, 1 of which breaks\. Leave what is there/)
})
