import { setTimeout as sleep } from 'node:timers/promises'
import { reasonOf } from '#platform/health/health.js'
import type { Registry } from '#platform/registry.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { subjectOf } from '#schemas/derive/names.js'
import { OperatorError } from '../desk/operator-error.js'

export type SubjectsProvisioned = { subjects: number }

// The registry works on them one by one anyhow; a few at a time hide the way there and back.
const atOnce = 4
const tries = 4

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

const register = async (registry: Registry, subject: string, schema: unknown): Promise<void> => {
  for (let attempt = 1; ; attempt++) {
    try {
      await registry.register(subject, schema)
      return
    } catch (error) {
      // Of two starters at the same new subject, one is told 409 as well: only a refusal that stays is one.
      if (attempt === tries) throw explain(error, subject)
      await sleep(200 * attempt)
    }
  }
}

const explain = (error: unknown, subject: string): OperatorError => {
  const { status, name } = error as { status?: number; name?: string }
  // Apicurio says it three times: by the class of its exception, in a list, and as causes.
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
