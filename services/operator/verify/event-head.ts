import { type Registry, Undecodable } from '#platform/registry.js'

/** Decodes only these fields of an event and skips the rest, which may be long. Undefined: nobody can read it. */
export const createHeadDecoder = <Head>(
  registry: Registry,
  schema: unknown,
  names: readonly (string & keyof Head)[],
): ((message: Buffer) => Promise<Head | undefined>) => {
  const { fields, ...rest } = schema as { fields: { name: string }[] }
  const decode = registry.decoder<Head>({ ...rest, fields: fields.filter(({ name }) => names.includes(name as never)) })
  return async (message) => {
    try {
      return await decode(message)
    } catch (error) {
      if (!(error instanceof Undecodable)) throw error
      return undefined
    }
  }
}
