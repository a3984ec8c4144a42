/** A field of an Avro schema: what kinds of values it may hold, and whether a reader has a default where it is absent. */
export type SchemaField = { kinds: readonly string[]; hasDefault: boolean }

/** Every field of an Avro schema by its path, such as `records.colour`. Comments, defaults and the order are left out. */
export const fieldsOf = (schema: unknown): Map<string, SchemaField> => {
  const fields = new Map<string, SchemaField>()
  const named = new Map<string, Definition>()

  const kindOf = (type: unknown): string => {
    if (typeof type === 'string' && named.has(type)) return kindOf(named.get(type))
    if (typeof type === 'string') return type
    const { type: kind } = type as Definition
    return typeof kind === 'string' ? kind : kindOf(kind)
  }
  /** The fields below a type: of a record, of an array's items, of each branch of a union. */
  const descend = (type: unknown, path: string, above: readonly unknown[]): void => {
    const definition = typeof type === 'string' ? named.get(type) : (type as Definition | unknown[])
    // A record may hold itself.
    if (definition === undefined || above.includes(definition)) return
    const below = [...above, definition]
    if (Array.isArray(definition)) {
      for (const branch of definition) descend(branch, path, below)
      return
    }
    if (definition.name !== undefined) named.set(definition.name, definition)
    descend(definition.items ?? definition.values ?? '', path, below)
    for (const field of definition.fields ?? []) {
      const at = path === '' ? field.name : `${path}.${field.name}`
      descend(field.type, at, below)
      const kinds = (Array.isArray(field.type) ? field.type : [field.type]).map(kindOf)
      fields.set(at, { kinds, hasDefault: field.default !== undefined })
    }
  }
  descend(schema, '', [])
  return fields
}

type Definition = {
  type: unknown
  name?: string
  items?: unknown
  values?: unknown
  fields?: { name: string; type: unknown; default?: unknown }[]
}

/** What a reader with the schema `known` would leave out or misread: fields it does not know, or of other kinds. */
export const uncoveredBy = (known: unknown, written: unknown): string[] => {
  const reader = fieldsOf(known)
  return [...fieldsOf(written)].flatMap(([path, { kinds }]) => {
    const same = reader.get(path)
    return same && kinds.every((kind) => same.kinds.includes(kind)) ? [] : [path]
  })
}
