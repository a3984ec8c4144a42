import { fixedEndpoints } from '../../endpoints/all.js'
import type { Endpoint } from '../../endpoints/endpoint.js'
import { importBatch, importSummary, versionConflict } from '../../endpoints/uploads.js'
import { closed, type Properties, type Schema } from '../../endpoints/values.js'

/** What each endpoint is asked and answers, as TypeScript for the clients: clients/typescript/src/endpoints.ts. */
export const endpointTypesOf = (endpoints: readonly Endpoint[] = fixedEndpoints): string => {
  const { typeOf, interfaces } = createWriter()
  for (const schema of [importBatch, importSummary, versionConflict]) typeOf(schema)
  const entries = endpoints.flatMap((endpoint) => {
    const { method, path, query, body, answers } = endpoint
    const good = Object.entries(answers).filter(([status]) => Number(status) < 300)
    const streamed = good.flatMap(([, { content = {} }]) =>
      Object.values(content).map(({ schema }) => schema.contentSchema),
    )
    for (const schema of streamed) if (schema) typeOf(schema as Schema)
    const answer = good.flatMap(([, { schema }]) => (schema ? [typeOf(schema, '    ')] : []))
    return [
      `  '${method} ${path}': {`,
      ...(query ? [`    query: ${typeOf(closed(query), '    ')}`] : []),
      ...(body?.schema ? [`    body: ${typeOf(body.schema, '    ')}`] : []),
      `    answer: ${answer.join(' | ') || 'string'}`,
      '  }',
    ]
  })
  return [
    '// Derived from schemas/endpoints; to write it anew: npm run publish-schemas',
    ...interfaces.values(),
    [
      '/** What each endpoint is asked, and what it answers when all is well. Uploads and interactions are in record-types.ts. */',
      'export interface Endpoints {',
      ...entries,
      '}',
    ].join('\n'),
    '/** What an endpoint answers. */\nexport type AnswerTo<Name extends keyof Endpoints> = Endpoints[Name]["answer"]'.replaceAll(
      '"',
      "'",
    ),
  ]
    .join('\n\n')
    .concat('\n')
}

const createWriter = () => {
  const interfaces = new Map<string, string>()

  const typeOf = (schema: Schema, indent = ''): string => {
    const { name } = schema
    if (typeof name !== 'string') return written(schema, indent)
    if (!interfaces.has(name)) {
      // Its place is before what is in it.
      interfaces.set(name, '')
      interfaces.set(name, `export interface ${name} ${written(schema, '')}`)
    }
    return name
  }

  const written = (schema: Schema, indent: string): string => {
    if (schema.$ref !== undefined) return 'string'
    if (Array.isArray(schema.enum))
      return schema.enum.map((one) => (typeof one === 'string' ? `'${one}'` : one)).join(' | ')
    if (Array.isArray(schema.anyOf) && schema.type === undefined)
      return schema.anyOf.map((one) => typeOf(one, indent)).join(' | ')
    if (Array.isArray(schema.type)) {
      if (schema.format === 'date-time' && schema.type.includes('integer')) return 'string | number | Date'
      return schema.type.map((type) => written({ ...schema, type }, indent)).join(' | ')
    }
    switch (schema.type) {
      case 'null':
      case 'string':
      case 'boolean':
        return schema.type
      case 'integer':
      case 'number':
        return 'number'
      case 'array': {
        const items = typeOf(schema.items as Schema, indent)
        return /^\w+$|^\{[^|]*\}$/s.test(items) ? `${items}[]` : `(${items})[]`
      }
      case 'object':
        return objectOf(schema, indent)
      default:
        return 'unknown'
    }
  }

  const objectOf = ({ properties, additionalProperties }: Schema, indent: string): string => {
    if (typeof additionalProperties === 'object')
      return `Record<string, ${typeOf(additionalProperties as Schema, indent)}>`
    if (!properties) return 'Record<string, unknown>'
    // What is asked may be left out in both ways that there are.
    const orNothing = additionalProperties === false ? ' | undefined' : ''
    const lines = Object.entries(properties as Properties).flatMap(([name, one]) => [
      ...(one.description ? [`${indent}  /** ${one.description} */`] : []),
      `${indent}  ${name}${one.isOptional ? '?' : ''}: ${typeOf(one, `${indent}  `)}${one.isOptional ? orNothing : ''}`,
    ])
    return lines.length === 0 ? 'Record<string, never>' : ['{', ...lines, `${indent}}`].join('\n')
  }

  return { typeOf, interfaces }
}
