import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import {
  breakingChanges,
  breakingInAvro,
  breakingInViews,
  contractsFile,
  contractsText,
  contractsToday,
  releasedContracts,
  releasedVersions,
} from '../../../deploy/release/contracts.js'
import { thisBuild } from '../../../services/platform/health/build.js'

const last = releasedVersions().at(-1) ?? ''
const majorOf = (version: string): string => version.split('.')[0] ?? ''

it('breaks nothing that the last release promised', () => {
  // A new major version may (docs/compatibility.md).
  if (majorOf(thisBuild().version) !== majorOf(last)) return
  expect(breakingChanges(releasedContracts(last), contractsToday())).toEqual([])
})

it('keeps the contracts of a release as it writes them', () => {
  expect(contractsText(releasedContracts(last))).toBe(readFileSync(contractsFile(last), 'utf8'))
})

it('looks at every topic, at the views of every type, at every path and setting', () => {
  const { openapi, avro, views, settings } = contractsToday()
  expect(Object.keys(openapi.paths)).toContain('/v1/data/shops')
  expect(Object.keys(avro)).toEqual(expect.arrayContaining(['weir.accepted.shops', 'weir.rejected', 'weir.verdicts']))
  expect(views['weir.shops']).toMatchObject({ shop_id: 'UUID', version: 'UInt64' })
  expect(Object.keys(views)).toEqual(
    expect.arrayContaining(['weir.shops_history', 'weir.interactions', 'weir.quality']),
  )
  expect(settings).toEqual(expect.arrayContaining(['KAFKA_BROKERS', 'EDGE_PORT']))
})

const event = (fields: unknown[]) => ({ 'weir.x': { type: 'record', name: 'X', fields } })
const id = { name: 'id', type: 'string' }
const optional = { name: 'more', type: ['null', 'string'], default: null }

it('lets an event get an optional field, and lose one', () => {
  expect(breakingInAvro(event([id]), event([id, optional]))).toEqual([])
  expect(breakingInAvro(event([id, optional]), event([id]))).toEqual([])
})

it('finds what an event may not do', () => {
  const [before, readers] = ['the events before cannot be read', 'whoever has the schema before']
  const of = (now: unknown[], old: unknown[] = [id]) => breakingInAvro(event(old), event(now)).join('\n')
  expect(of([id, { name: 'more', type: 'string' }])).toContain(before)
  expect(of([optional])).toContain(readers)
  expect(of([{ name: 'id', type: 'long' }])).toMatch(new RegExp(`${readers}[^]*${before}`))
  expect(of([{ name: 'id', type: ['null', 'string'] }])).toContain(readers)
  const colour = (...symbols: string[]) => ({ name: 'c', type: { type: 'enum', name: 'C', symbols } })
  expect(of([colour('A', 'B')], [colour('A')])).toContain(readers)
  expect(breakingInAvro(event([id]), {})).toEqual(['the topic weir.x is gone'])
})

it('finds what a view may not do', () => {
  const before = { 'weir.shops': { id: 'UUID', name: 'String' } }
  expect(breakingInViews(before, { 'weir.shops': { id: 'UUID', name: 'String', more: 'String' } })).toEqual([])
  expect(breakingInViews(before, { 'weir.shops': { id: 'UUID' } })).toEqual(['weir.shops.name is gone'])
  expect(breakingInViews(before, { 'weir.shops': { id: 'String', name: 'String' } })).toEqual([
    'weir.shops.id was UUID and is String',
  ])
  expect(breakingInViews(before, {})).toEqual(['the view weir.shops is gone'])
})

it('finds that a setting is gone', () => {
  const today = contractsToday()
  const fewer = { ...today, settings: today.settings.filter((name) => name !== 'EDGE_PORT') }
  expect(breakingChanges(today, fewer)).toEqual(['the setting EDGE_PORT is gone'])
  expect(breakingChanges(fewer, today)).toEqual([])
})
