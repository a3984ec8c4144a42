import { reasonOf } from '#platform/health/health.js'
import type { Compatibility, Registry } from '#platform/registry.js'
import { fieldsOf } from '#platform/schema-fields.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { subjectOf } from '#schemas/derive/names.js'
import { OperatorError } from '../command/operator-error.js'
import { insist } from '../command/until.js'

// The registry itself works on one at a time; a few requests under way hide the time they take to travel.
const atOnce = 4

// Each schema of a subject reads what every other one wrote. Downstream teams read the accepted, rejected and interaction
// events with the schema of the day they built on. Submitted batches and verdicts are read only by Weir's own services, but
// during an upgrade an old integrity reads what a new edge writes, and would set aside what it cannot read.
export const compatibility: Compatibility = 'FULL_TRANSITIVE'

/** Registers every topic's schema, unless it is there, and refuses one that would break readers, old or new. */
export const provisionSubjects = async (registry: Registry, catalogue: Catalogue): Promise<{ subjects: number }> => {
  const subjects = subjectsOf(catalogue)
  await forEach(subjects, ({ subject, schema }) => register(registry, subject, schema))
  return { subjects: subjects.length }
}

/**
 * Compares schemas with the newest in the registry, before anything is changed. Throws, naming the fields, where one would
 * break readers. Resolves to the topics with a newer schema there: this Weir is older than the one provisioned last.
 */
export const compareSubjects = async (
  registry: Pick<Registry, 'subjects' | 'findLatest' | 'isRegistered'>,
  catalogue: Catalogue,
): Promise<Set<string>> => {
  const older = new Set<string>()
  // Asked for all at once: a new registry would have to refuse each of sixty questions.
  const there = new Set(await insist(registry.subjects))
  const known = subjectsOf(catalogue).filter(({ subject }) => there.has(subject))
  await forEach(known, async ({ topic, subject, schema }) => {
    const latest = await insist(() => registry.findLatest(subject))
    const breaks = latest === undefined ? [] : breaksOf(JSON.parse(latest), schema)
    if (breaks.length === 0) return
    if (await insist(() => registry.isRegistered(subject, schema))) older.add(topic)
    else throw new OperatorError(`the schema of ${subject} cannot change so: ${breaks.join('; ')}. ${rule}`)
  })
  return older
}

const rule = `Old and new readers rely on this subject (${compatibility}): leave its fields as they are, and add only optional ones`

const breaksOf = (before: unknown, now: unknown): string[] => {
  const [old, fresh] = [fieldsOf(before), fieldsOf(now)]
  return [
    ...[...old].flatMap(([path, { kinds }]) => {
      const same = fresh.get(path)
      if (!same) return [`${path} is gone`]
      const change = `${kinds.join(' or ')} becomes ${same.kinds.join(' or ')}`
      return isSame(kinds, same.kinds) ? [] : [`${path}: ${change}`]
    }),
    ...[...fresh].flatMap(([path, { hasDefault }]) =>
      old.has(path) || hasDefault || isWithinNew(path, old) ? [] : [`${path} is new and required`],
    ),
  ]
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((kind) => b.includes(kind))

// The fields inside of a new field may be required: they are absent together with it.
const isWithinNew = (path: string, old: ReadonlyMap<string, unknown>): boolean => {
  const parent = path.slice(0, Math.max(0, path.lastIndexOf('.')))
  return parent !== '' && !old.has(parent)
}

export type SubjectOfTopic = { topic: string; subject: string; schema: unknown }

export const subjectsOf = (catalogue: Catalogue): SubjectOfTopic[] =>
  [...schemasByTopic(catalogue.all.values())].map(([topic, schema]) => ({ topic, subject: subjectOf(topic), schema }))

const forEach = async (subjects: SubjectOfTopic[], work: (one: SubjectOfTopic) => Promise<void>): Promise<void> => {
  const left = subjects.values()
  const worker = async () => {
    for (const one of left) await work(one)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

// Of two operators who register the same new subject at the same time, one is answered 409: only a refusal that stays counts.
const register = async (registry: Registry, subject: string, schema: unknown): Promise<void> => {
  await insist(() => registry.register(subject, schema, compatibility)).catch((error: unknown) => {
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
  return new OperatorError(`the registry refuses the schema of ${subject}: ${reason}. ${rule}`)
}
