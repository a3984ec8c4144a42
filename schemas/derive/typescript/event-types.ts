import type { Catalogue } from '../../catalogue.js'
import { type AvroField, type AvroSchema, schemasByTopic } from '../avro.js'
import { acceptedTopic } from '../names.js'

/** The events on these topics, as @kafkajs/confluent-schema-registry decodes them: clients/typescript/src/events.ts. */
export const eventTypesOf = (catalogue: Catalogue, topics: readonly string[]): string => {
  const schemas = schemasByTopic(catalogue.all.values())
  const choices = choicesByTopic(catalogue)
  const events = topics.map((topic) => ({ topic, schema: schemas.get(topic) as AvroRecord }))
  return [
    '// Derived from schemas/records; to write it anew: npm run publish-schemas',
    ...events.map(({ topic, schema }) =>
      [
        `/** On ${topic}: ${lowerFirst(schema.doc ?? '')} */`,
        `export interface ${eventNameOf(schema)} {`,
        ...linesOf(schema.fields, choices.get(topic) ?? {}, '  '),
        '}',
      ].join('\n'),
    ),
    [
      '/** The type of the events on each topic. */',
      'export interface EventsByTopic {',
      ...events.map(({ topic, schema }) => `  '${topic}': ${eventNameOf(schema)}`),
      '}',
    ].join('\n'),
  ]
    .join('\n\n')
    .concat('\n')
}

/** What the type of a topic's events is called: weir.accepted.Shops → ShopsEvent. */
export const eventNameOf = (schema: AvroSchema): string => `${(schema as AvroRecord).name}Event`

type AvroRecord = { name: string; doc?: string; fields: AvroField[] }
type Choices = Readonly<Record<string, string>>

/** To Avro, a field with a few possible values is any text; the catalogue knows which. */
const choicesByTopic = (catalogue: Catalogue): Map<string, Choices> =>
  new Map(
    [...catalogue.all.values()].map((type) => [
      acceptedTopic(type.type),
      Object.fromEntries(
        Object.entries(type.fields).flatMap(([name, field]) =>
          field.kind === 'choice' ? [[name, field.of.map((value) => `'${value}'`).join(' | ')]] : [],
        ),
      ),
    ]),
  )

const linesOf = (fields: readonly AvroField[], choices: Choices, indent: string): string[] =>
  fields.flatMap(({ name, type, doc }) => {
    const text = [doc, unitOf(type)].filter(Boolean).join('; ')
    const comment = text ? [`${indent}/** ${text} */`] : []
    const choice = choices[name]
    const written = choice === undefined ? typeOf(type, indent) : withNull(type, choice)
    return [...comment, `${indent}${name}: ${written}`]
  })

const withNull = (type: AvroSchema, written: string): string =>
  Array.isArray(type) && type.includes('null') ? `${written} | null` : written

const typeOf = (type: AvroSchema, indent: string): string => {
  if (Array.isArray(type)) {
    const given = type.filter((each) => each !== 'null').map((each) => typeOf(each, indent))
    return withNull(type, given.join(' | '))
  }
  const kind = typeof type === 'string' ? type : String(type.type)
  switch (kind) {
    case 'string':
    case 'boolean':
      return kind
    case 'int':
    case 'long':
    case 'double':
      return 'number'
    case 'array':
      return `${typeOf((type as { items: AvroSchema }).items, indent)}[]`
    case 'record':
      return ['{', ...linesOf((type as AvroRecord).fields, {}, `${indent}  `), `${indent}}`].join('\n')
    default:
      throw new Error(`no TypeScript type is known for Avro's ${kind}: add it to typescript/event-types.ts`)
  }
}

const unitOf = (type: AvroSchema): string => {
  if (Array.isArray(type)) return type.map(unitOf).join('')
  const logical = typeof type === 'string' ? undefined : type.logicalType
  if (logical === 'timestamp-millis') return 'milliseconds since 1970, UTC'
  return logical === 'date' ? 'days since 1970' : ''
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
