import { reasonOf } from '#platform/health/health.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { subjectOf } from '#schemas/derive/names.js'
import { OperatorError } from '../desk/operator-error.js'
import { persist } from '../desk/until.js'

export type SubjectsProvisioned = { subjects: number }

// The registry itself works on one at a time; a few requests under way hide the time they take to travel.
const atOnce = 4

/** Registers every topic's schema. One that is there already is left alone; one that would break readers is refused. */
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
    () => registry.register(subject, schema),
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
      'Readers rely on this subject (BACKWARD_TRANSITIVE): add an optional field instead of changing or removing one',
  )
}
