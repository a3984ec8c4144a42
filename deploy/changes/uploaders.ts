import { changesInOpenApi, changesInWritten, type HttpContract } from '../release/compare-openapi.js'
import { adds, breaks, type PublishedChange, type PublishedFiles } from './change.js'

/** First the fields of the records, each named once; then what else changes at the endpoints. */
export const changesForUploaders = (before: PublishedFiles, after: PublishedFiles): PublishedChange[] => {
  const [old, now] = [documentIn(before), documentIn(after)]
  const [types, typesNow] = [typesIn(old), typesIn(now)]
  const kept = types.filter((type) => typesNow.includes(type))
  return [
    ...types.filter((type) => !typesNow.includes(type)).map((type) => breaks(`the type ${type} is gone`)),
    ...typesNow.filter((type) => !types.includes(type)).map((type) => adds(`the type ${type} is new`)),
    ...kept.flatMap((type) => changesInWritten(old, now, type)),
    ...changesInOpenApi(withSchemasOf(now, kept, old), now),
  ]
}

const documentIn = (files: PublishedFiles): HttpContract =>
  JSON.parse(files.get('schemas/published/openapi.json') ?? '{"paths": {}}') as HttpContract

/** The types that can be uploaded: those that have a path of their own, and a schema under their name. */
const typesIn = (document: HttpContract): string[] =>
  Object.keys(schemasOf(document)).filter((name) => document.paths[`/v1/data/${name}`]?.post !== undefined)

const schemasOf = ({ components }: HttpContract): Record<string, unknown> =>
  (components as { schemas?: Record<string, unknown> } | undefined)?.schemas ?? {}

/** Record types stand in the bodies and answers of dozens of endpoints: with the same fields in both documents, none is named again. */
const withSchemasOf = (now: HttpContract, names: readonly string[], old: HttpContract): HttpContract => {
  const same = Object.fromEntries(names.map((name) => [name, schemasOf(now)[name]]))
  return { ...old, components: { ...(old.components as object), schemas: { ...schemasOf(old), ...same } } }
}
