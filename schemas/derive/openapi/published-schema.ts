import type { Properties, Schema } from '../../endpoints/values.js'

/** Writes schemas as the document has them: what has a name is put under `components`, and referred to. */
export const createPublishSchema = () => {
  const components: Record<string, Schema> = {}
  const sources = new Map<string, Schema>()

  const publish = (schema: Schema): Schema => {
    const { name, refusal: _, isOptional: __, nullsLeftOut: ___, ...keywords } = schema
    if (typeof name !== 'string') return written(keywords)
    if (!sources.has(name)) {
      sources.set(name, schema)
      components[name] = written(keywords)
    } else if (sources.get(name) !== schema) throw new Error(`two schemas are called ${name}`)
    return referenceTo(name)
  }
  const written = (keywords: Schema): Schema =>
    Object.fromEntries(Object.entries(keywords).map(([key, value]) => [key, inside(key, value)]))

  const inside = (key: string, value: unknown): unknown => {
    switch (key) {
      case '$ref':
        return referenceTo(String(value)).$ref
      case 'items':
      case 'contentSchema':
        return publish(value as Schema)
      case 'additionalProperties':
        return typeof value === 'object' ? publish(value as Schema) : value
      case 'anyOf':
        return (value as Schema[]).map(publish)
      case 'properties':
        return Object.fromEntries(Object.entries(value as Properties).map(([name, one]) => [name, publish(one)]))
      default:
        return value
    }
  }
  return { components, publish }
}

const referenceTo = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
