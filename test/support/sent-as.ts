/** What a client sends of a record. */
export const sentAs = (record: unknown) => (): Buffer => Buffer.from(JSON.stringify(record))
