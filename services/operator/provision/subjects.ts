import { reasonOf } from '#platform/health/health.js'
import type { Compatibility, Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { subjectOf } from '#schemas/derive/names.js'
import { OperatorError } from '../desk/operator-error.js'
import { persist } from '../desk/until.js'

export type SubjectsProvisioned = { subjects: number }

// The registry itself works on one at a time; a few requests under way hide the time they take to travel.
const atOnce = 4

// Each schema of a subject reads what every other one wrote. Downstream teams read the accepted, rejected and interaction
// events with the schema of the day they built on. Submitted batches and verdicts are read only by Weir's own services, but
// during an upgrade an old integrity reads what a new edge writes, and would set aside what it cannot read.
const compatibility: Compatibility = 'FULL_TRANSITIVE'

/**
 * Registers every topic's schema. One that is there already is left alone; one that would break readers, old or new, is
 * refused. A subject that was made with a weaker rule gets this one.
 */
export const provisionSubjects = async (registry: Registry, catalogue: Catalogue): Promise<SubjectsProvisioned> => {
  const schemas = [...schemasByTopic(catalogue.all.values())]
  const left = schemas.values()
  const work = async () => {
    for (const [topic, schema] of left) await register(registry, subjectOf(topic), schema)
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return { subjects: schemas.length }
}

// Of two operators who register the same new subject at the same time, one is answered 409: only a refusal that stays counts.
const register = async (registry: Registry, subject: string, schema: unknown): Promise<void> => {
  await persist(
    () => registry.register(subject, schema, compatibility),
    () => true,
    { every: 400, tries: 4 },
  ).catch((error: unknown) => {
    throw explain(error, subject)
  })
}

const explain = (error: unknown, subject: string): OperatorError => {
  const { status, name } = error as { status?: number; name?: string }
  // Apicurio repeats the reason: after the class of its exception, in a list, and as causes.
  const reason = reasonOf(error)
    .replace(/^Confluent_Schema_Registry - /, '')
    .replace(/^[\w.]+Exception: /, '')
    .replace(/\s*Causes: .*$/s, '')
    .replace(/\.+$/, '')
  const isRefusal = status === 409 || status === 422 || name === 'ConfluentSchemaRegistryCompatibilityError'
  if (!isRefusal) return new OperatorError(`the registry cannot take the schema of ${subject}: ${reason}`)
  return new OperatorError(
    `the registry refuses the schema of ${subject}: ${reason}. ` +
      `Old and new readers rely on this subject (${compatibility}): leave its required fields as they are, and add only ` +
      'optional ones',
  )
}
