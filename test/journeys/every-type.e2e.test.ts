import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { exactColumns } from '#schemas/derive/clickhouse/columns.js'
import { viewOf } from '#schemas/derive/names.js'
import { createValidator } from '#schemas/derive/validator.js'
import type { RecordType } from '#schemas/record.js'
import { eventually } from '../support/eventually.js'
import { badValuesOf, sampleOf } from '../support/sample.js'
import { analyst, newOrganisation } from '../support/system/system.js'

const org = await newOrganisation('every-type')
const known = new Map<string, string>()

/** A record whose references point to records that were accepted. */
const validRecord = (type: RecordType, over: Record<string, unknown> = {}) => {
  const references = Object.entries(type.fields).flatMap(([name, field]) =>
    field.kind === 'reference' ? [[name, known.get(field.to)]] : [],
  )
  return sampleOf(type, { ...Object.fromEntries(references), is_deleted: false, ...over })
}

// In the catalogue's order: what is referred to comes first.
describe.each([...catalogue.uploads.values()])('$type', (type) => {
  const path = type.type

  it('is accepted, and an analyst sees it as it was sent', async () => {
    const record = validRecord(type)
    const { status, body } = await org.uploader.upload(path, [record])
    expect(body.batches).toMatchObject([
      { batch: 1, status: 200, data: { status: 'success', type: path, error: null } },
    ])
    expect(status).toBe(200)
    expect(body.type).toBe(path)
    known.set(path, String(record[type.id]))

    const rows = await eventually(async () => {
      const found = await analyst.query<Record<string, unknown>>(
        `select * from weir.${viewOf(path)} where org_id = {org:String} and ${type.id} = {id:UUID}`,
        { org: org.name, id: record[type.id] },
      )
      expect(found).toHaveLength(1)
      return found
    })
    // What ClickHouse shows, read by our own validator, is what the uploader sent, read by it.
    const { org_id, accepted_at, version, ...shown } = rows[0] ?? {}
    expect(org_id).toBe(org.name)
    expect([accepted_at, Number(version)]).toEqual([expect.stringMatching(/^20\d\d-/), expect.any(Number)])
    for (const { name } of exactColumns(type)) {
      expect(shown[name], name).toBe(record[name.replace(/_exact$/, '')] ?? null)
      delete shown[name]
    }
    expect(createValidator(type)(asSent(type, shown))).toEqual(createValidator(type)(record))
  })

  it('is refused without a required field, and for every bad value', async () => {
    const cases = Object.entries(type.fields).flatMap(([name, field]) => [
      ...(field.required ? [{ name, code: 'missing_field', record: without(validRecord(type), name) }] : []),
      ...badValuesOf(field)
        // JSON has no infinity; what reads as one is among the numbers of exact-input.
        .filter(([value]) => value !== Number.POSITIVE_INFINITY)
        .map(([value, code]) => ({ name, code, record: validRecord(type, { [name]: value }) })),
    ])
    const { status, body } = await org.uploader.upload(
      path,
      cases.map(({ record }) => record),
    )
    expect(status).toBe(400)
    const errors = body.batches.flatMap(({ data }) => data.errors ?? [])
    expect(errors.map(({ index, problems }) => [index, problems.map(({ field, code }) => [field, code])])).toEqual(
      cases.map(({ name, code }, index) => [index, [[name, code]]]),
    )
  })

  const references = Object.entries(type.fields).filter(([, field]) => field.kind === 'reference')
  it.each(references)('is refused when its %s is not known', async (name) => {
    const record = validRecord(type, { [name]: randomUUID() })
    const { status, body } = await org.uploader.upload(path, [validRecord(type), record])
    expect(status).toBe(207)
    expect(body.batches[0]).toMatchObject({
      status: 207,
      data: {
        status: 'partial',
        errors: [{ index: 1, id: record[type.id], problems: [{ field: name, code: 'unknown_reference' }] }],
      },
    })
    await eventually(async () => {
      const rows = await analyst.query(
        `select record from weir.rejections where org_id = {org:String} and request_id = {request:UUID}`,
        { org: org.name, request: body.request_id },
      )
      expect(rows).toHaveLength(1)
    })
  })
})

const without = (record: Record<string, unknown>, name: string) =>
  Object.fromEntries(Object.entries(record).filter(([key]) => key !== name))

/** ClickHouse writes instants as `2024-05-31 10:30:15.123`. */
const asSent = (type: RecordType, row: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      type.fields[name]?.kind === 'instant' && typeof value === 'string' ? value.replace(' ', 'T') : value,
    ]),
  )
