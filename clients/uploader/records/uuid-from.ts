import { createHash } from 'node:crypto'
import { catalogue } from '../../../schemas/catalogue.js'
import type { Field } from '../../../schemas/field.js'
import type { RecordType } from '../../../schemas/record.js'
import { isUuid } from '../../../schemas/uuid.js'

// Companies whose records have numbers, and no UUIDs: `shops/17` always gives the same UUID within a namespace, whether it stands
// in the shop itself or in an offer that refers to it, while offer 17 is another one.

const dnsNamespace = '6ba7b810-9dad-11d1-80b4-00c04fd430c8'

/** The namespace that was given: a UUID as it is, any other text by its own UUID in the namespace of names. */
export const readNamespace = (given: string): string =>
  isUuid(given) ? given.toLowerCase() : uuidV5(dnsNamespace, given)

/** Replaces the ids and references of a record that are no UUIDs. */
export const createWithUuids = (type: RecordType, namespace: string): ((record: Record<string, unknown>) => void) => {
  const ids = Object.entries(type.fields).flatMap(([name, field]) =>
    field.kind === 'uuid' || field.kind === 'reference' || field.kind === 'item'
      ? { name, of: ownerOf(type, name, field) }
      : [],
  )
  return (record) => {
    for (const { name, of } of ids) {
      const id = record[name]
      const text = typeof id === 'number' ? String(id) : id
      if (typeof text !== 'string' || text === '' || isUuid(text)) continue
      const owner = of(record)
      if (owner !== undefined) record[name] = uuidV5(namespace, `${owner}/${text}`)
    }
  }
}

/** The type whose ids stand in this field. Where nothing says one, the field is for itself. */
const ownerOf = (type: RecordType, name: string, field: Field) => {
  if (field.kind === 'item') return (record: Record<string, unknown>) => field.kinds[String(record[field.by])]
  const { likeness } = field
  const owner =
    field.kind === 'reference'
      ? field.to
      : type.id === name
        ? type.type
        : likeness && 'idOf' in likeness
          ? likeness.idOf
          : ([...catalogue.all.values()].find(({ id }) => id === name)?.type ?? name)
  return () => owner
}

const uuidV5 = (namespace: string, name: string): string => {
  const space = Buffer.from(namespace.replaceAll('-', ''), 'hex')
  const bytes = createHash('sha1').update(space).update(name).digest()
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6)
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8)
  return bytes.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
