import { type Registry, Undecodable } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { rejectedSchema, submittedSchema, waitingSchema } from '#schemas/derive/avro.js'
import * as names from '#schemas/derive/names.js'
import { ofNobodyKnown } from '#schemas/set-aside.js'

/**
 * Tells messages that a Weir from before erasures wrote: those of the log it named by the organisation, and refusals by the batch, so that
 * several have one key. What cannot be decoded no Weir has written, and what was set aside for that has a key of its own.
 */
export const createHasSharedKey = (deps: { registry: Pick<Registry, 'decoder'>; catalogue: Catalogue }) => {
  const { registry, catalogue } = deps
  const schemaOf = (topic: string) => {
    if (topic === names.rejectedTopic) return rejectedSchema()
    if (topic === names.waitingTopic) return waitingSchema()
    const type = catalogue.all.get(names.typeOfSubmitted(topic))
    return type && submittedSchema(type)
  }
  return async (topic: string, key: string | null, value: Buffer): Promise<boolean> => {
    if (!isOfOldForm(topic, key)) return false
    const schema = schemaOf(topic)
    return (
      schema === undefined ||
      unlessUndecodable(registry.decoder<{ org_id: string }>(schema)(value).then(isOfSomebody), false)
    )
  }
}

const isOfSomebody = ({ org_id }: { org_id: string }): boolean => org_id !== ofNobodyKnown

const isOfOldForm = (topic: string, key: string | null): boolean => {
  const parts = (key ?? '').split('/').length
  if (topic.startsWith(names.submittedTopic(''))) return parts < 2
  return (topic === names.rejectedTopic || topic === names.waitingTopic) && parts < 3
}

/** What decoding resolves to, and something else where nothing can be decoded. A registry that does not answer is still an error. */
export const unlessUndecodable = <T>(decoded: Promise<T>, otherwise: T): Promise<T> =>
  decoded.catch((error) => {
    if (error instanceof Undecodable) return otherwise
    throw error
  })
