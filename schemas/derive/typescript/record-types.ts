import type { Catalogue } from '../../catalogue.js'
import type { Field } from '../../field.js'
import { columnsOf, type RecordType } from '../../record.js'

/** The SDK's types of records, as TypeScript: clients/typescript/src/record-types.ts. */
export const recordTypesOf = (catalogue: Catalogue): string => {
  const uploads = [...catalogue.uploads.values()]
  const { interaction } = catalogue
  return [
    '// Derived from schemas/records; to write it anew: npm run publish-schemas',
    ...uploads.map((type) => interfaceOf(type.about, `${pascal(type.type)}Record`, type.fields)),
    interfaceOf(interaction.about, 'Interaction', interaction.fields),
    interfaceOf(`${interaction.about} As it is read back.`, 'RecordedInteraction', columnsOf(interaction), true),
    block(
      '/** The types of records that are uploaded, by their names in the SDK. */',
      'export interface RecordTypes {',
      [
        ...uploads.map(({ type }) => `${camel(type)}: ${pascal(type)}Record`),
        `${camel(interaction.type)}: Interaction`,
      ],
      '}',
    ),
    block(
      '/** For each type: its path segment, the field that identifies a record, and how many one request may carry. */',
      'export const recordTypes = {',
      [...uploads, interaction].map(
        ({ type, id, limit }) => `${camel(type)}: { type: '${type}', id: '${id}', limit: ${limit} },`,
      ),
      '} as const satisfies Record<keyof RecordTypes, { type: string; id: string; limit: number }>',
    ),
    '/** The path segments of the types. */\nexport type TypeName = (typeof recordTypes)[keyof RecordTypes]["type"]'.replaceAll(
      '"',
      "'",
    ),
  ]
    .join('\n\n')
    .concat('\n')
}

const interfaceOf = (about: string, name: string, fields: RecordType['fields'], isRead = false): string =>
  block(
    `/** ${about} */`,
    `export interface ${name} {`,
    Object.entries(fields).flatMap(([field, kind]) => {
      const text = commentOf(isRead && kind.kind === 'moment' ? { ...kind, kind: 'instant' } : kind)
      const optional = isRead || kind.required ? '' : '?'
      const none = kind.required ? '' : isRead ? ' | null' : ' | null | undefined'
      return [
        ...(text ? [`/** ${text} */`] : []),
        `${field}${optional}: ${isRead ? readType(kind) : givenType(kind)}${none}`,
      ]
    }),
    '}',
  )

const block = (comment: string, opening: string, lines: readonly string[], closing: string): string =>
  [comment, opening, ...lines.map((line) => `  ${line}`), closing].join('\n')

const commentOf = (field: Field): string => [field.about, ruleOf(field)].filter(Boolean).join('; ')

/** What the type alone does not say. */
const ruleOf = (field: Field): string => {
  switch (field.kind) {
    case 'uuid':
      return 'a UUID'
    case 'reference':
      return `the id of a record of ${field.to} that exists`
    case 'item':
      return `the id of a record that exists, of the kind that ${field.by} says`
    case 'text':
      return field.longest === undefined ? '' : `at most ${field.longest} characters`
    case 'country':
      return 'of ISO 3166, like GB'
    case 'number': {
      const { above, min, max } = field
      const bounds = [
        above === undefined ? '' : `above ${above}`,
        min === undefined ? '' : `at least ${min}`,
        max === undefined ? '' : `at most ${max}`,
      ]
      return bounds.filter(Boolean).join(', ')
    }
    case 'instant':
      return 'ISO 8601; UTC where no offset is given'
    case 'moment':
      return 'ISO 8601, or seconds since 1970, or milliseconds from 100 000 000 000 on'
    case 'date':
      return 'YYYY-MM-DD'
    case 'boolean':
    case 'choice':
      return ''
    default:
      return field satisfies never
  }
}

/** What an uploader gives: a Date is written as ISO 8601. */
const givenType = (field: Field): string => {
  switch (field.kind) {
    case 'instant':
      return 'string | Date'
    case 'moment':
      return 'string | number | Date'
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'choice':
      return field.of.map((value) => `'${value}'`).join(' | ')
    case 'uuid':
    case 'reference':
    case 'item':
    case 'text':
    case 'country':
    case 'date':
      return 'string'
    default:
      return field satisfies never
  }
}

/** What comes back: times are ISO 8601. */
const readType = (field: Field): string =>
  field.kind === 'instant' || field.kind === 'moment' ? 'string' : givenType(field)

const pascal = (name: string): string => name.replaceAll(/(?:^|-)(.)/g, (_, letter: string) => letter.toUpperCase())
const camel = (name: string): string => name.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
