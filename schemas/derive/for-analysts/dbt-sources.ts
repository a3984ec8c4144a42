import { stringify } from 'yaml'
import type { Catalogue } from '../../catalogue.js'
import { marts } from '../../marts/all.js'
import type { Mart } from '../../marts/mart.js'
import { hasVersions, type RecordType } from '../../record.js'
import { type ClickHouseColumn, tableColumns, viewColumns } from '../clickhouse/columns.js'
import * as names from '../names.js'
import { linksOf, type ModelLink } from './model-links.js'

type DbtTest = string | Record<string, unknown>
type DbtColumn = { name: string; description: string; data_type: string; data_tests?: DbtTest[] }
type DbtTable = { name: string; description: string; columns?: DbtColumn[]; data_tests?: DbtTest[] }

/** clients/dbt/models/weir.yml: every table of the database for dbt, with what it means, and the tests that hold. */
export const dbtSources = (catalogue: Catalogue): string => {
  const types = [...catalogue.all.values()]
  const tables = [
    ...types.map((type) => viewTable(type, catalogue)),
    ...types.filter(({ type }) => catalogue.referenced.has(type)).map(stateTable),
    ...otherViews,
    // A view that is asked with values, as segment_members is, cannot be a source.
    ...marts.filter(({ asked }) => asked === undefined).map(martTable),
  ]
  const source = {
    name: names.database,
    description: 'What Weir keeps in ClickHouse: the current records, and the marts, which are ready answers.',
    schema: `{{ var('weir_database', '${names.database}') }}`,
    tables,
  }
  return `# Made by npm run publish-schemas from schemas/records and schemas/marts: change the descriptions there.\n${stringify({ version: 2, sources: [source] }, { lineWidth: 0, aliasDuplicateObjects: false })}`
}

/** The current records of a type. Two organisations may use the same id: a record is known by both. */
const viewTable = (type: RecordType, catalogue: Catalogue): DbtTable => {
  const view = names.viewOf(type.type)
  const links = linksOf(type, catalogue).filter(({ isChecked }) => isChecked)
  const always = new Set(
    ['org_id', type.id, ...links.map(({ field }) => field)].filter((name) => isRequired(type, name)),
  )
  return {
    name: view,
    description: type.about,
    columns: viewColumns(type).map((column) => toColumn(column, always.has(column.name) ? ['not_null'] : [])),
    data_tests: [
      { unique: { name: `${view}_has_a_record_once`, arguments: { column_name: keyOf(type.id) } } },
      ...links.map((link) => relationship(view, link, catalogue)),
    ],
  }
}

const isRequired = ({ fields }: RecordType, name: string): boolean => fields[name]?.required ?? true

/** A reference holds also where the record that it names was deleted since, and is no longer in its view. */
const relationship = (view: string, { field, to, when }: ModelLink, { all }: Catalogue): DbtTest => ({
  relationships: {
    name: `${view}_${field}_names_one_of_${names.viewOf(to)}`,
    arguments: {
      column_name: keyOf(field),
      to: `source('${names.database}', '${names.currentTableOf(to)}')`,
      field: keyOf(all.get(to)?.id ?? ''),
    },
    ...(when && { config: { where: `${when.field} = '${when.is}'` } }),
  },
})

const keyOf = (id: string): string => `concat(org_id, ' ', toString(${id}))`

const stateTable = (type: RecordType): DbtTable => ({
  name: names.currentTableOf(type.type),
  description: `${type.type} with the deleted ones, for the tests of references; a row may be there twice until ClickHouse merges it. Models read the view ${names.viewOf(type.type)}.`,
  columns: tableColumns(type)
    .filter(({ name }) => name === 'org_id' || name === type.id || (hasVersions(type) && name === 'is_deleted'))
    .map((column) => toColumn(column)),
})

const otherViews: DbtTable[] = [
  { name: names.rejectionsView, description: 'Refused records: what was sent, and what is wrong with it.' },
  { name: names.waitingView, description: 'Records that wait for what they refer to.' },
  { name: names.qualityView, description: 'What came in, by organisation, type and day: accepted, refused, waiting.' },
]

const martTable = ({ name, about, grain, columns }: Mart): DbtTable => ({
  name,
  description: `${about} One row: ${grain}.`,
  columns: Object.entries(columns).map(([column, { type, about: comment }]) =>
    toColumn({ name: column, type, comment }, column === 'org_id' ? ['not_null'] : []),
  ),
})

const toColumn = ({ name, type, comment }: ClickHouseColumn, data_tests: DbtTest[] = []): DbtColumn => ({
  name,
  description: comment,
  data_type: type,
  ...(data_tests.length > 0 && { data_tests }),
})
