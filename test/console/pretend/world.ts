import { randomUUID } from 'node:crypto'
import { catalogue } from '#schemas/catalogue.js'
import { schemasByTopic } from '#schemas/derive/avro.js'
import { acceptedTopic } from '#schemas/derive/names.js'
import { exampleOf } from '#schemas/derive/openapi/record-schema.js'
import { topicsOf } from '#schemas/derive/topics.js'
import { createValidator } from '#schemas/derive/validator.js'
import type { Field } from '#schemas/field.js'
import { createReferencesOf, type RecordType } from '#schemas/record.js'
import type { Problem, Rejection } from '../../../clients/typescript/src/endpoints.js'

// What the pretended edge knows and decides, in memory: the catalogue is the real one, and so are the checks of records.

type PretendRejection = Rejection & { org: string }
type PretendRecord = {
  org: string
  type: string
  id: string
  versions: { at: string; record: Record<string, unknown>; request: string }[]
}

export const typeReferences = () =>
  [...catalogue.all.values()].map((type) => ({
    type: type.type,
    id: type.id,
    about: type.about,
    limit: type.limit,
    fields: Object.entries(type.fields).map(([name, field]) => ({ ...shownField(field), name })),
    references: Object.entries(type.fields).flatMap(([name, field]) =>
      field.kind === 'reference'
        ? [{ field: name, to: field.to }]
        : field.kind === 'item'
          ? Object.values(field.kinds).map((to) => ({ field: name, to }))
          : [],
    ),
    example: exampleOf(type),
    snippets: {
      curl: `curl -s http://127.0.0.1:8080/v1/data/${type.type} \\\n  -H "Authorization: Bearer $WEIR_KEY" -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify({ records: [exampleOf(type)] })}'`,
      typescript: `import { createWeir } from 'weir-client'\n\nconst weir = createWeir({ url, key })\nawait weir.of('${type.type}').upload([${JSON.stringify(exampleOf(type), null, 2)}])`,
      python: `body = {"records": [${JSON.stringify(exampleOf(type))}]}`,
      csv: `${Object.keys(exampleOf(type)).join(',')}\n${Object.values(exampleOf(type)).join(',')}\n`,
    },
  }))

const shownField = (field: Field) => ({
  kind: field.kind,
  required: field.required,
  about: field.about,
  ...(field.kind === 'text' && { max_length: field.longest ?? 10_000 }),
  ...(field.kind === 'choice' && { choices: field.of }),
  ...(field.kind === 'reference' && { to: field.to }),
  ...(field.kind === 'item' && { by: field.by, kinds: field.kinds }),
  ...(field.kind === 'number' && field.above !== undefined && { above: field.above }),
})

export const topicReferences = () => {
  const schemas = schemasByTopic(catalogue.all.values())
  const configs = new Map(topicsOf(catalogue).map((topic) => [topic.name, topic]))
  return [...catalogue.all.values()].map((type) => {
    const name = acceptedTopic(type.type)
    return {
      name,
      type: type.type,
      key: 'organisation/id',
      about: `Every accepted record of ${type.type}: ${type.about}`,
      retention: type.type === 'interactions' ? '365 days' : 'the newest event of each key, for ever',
      partitions: configs.get(name)?.partitions ?? 4,
      cleanup: type.type === 'interactions' ? 'delete' : 'compact',
      promises: [
        'All events of one key are in one partition, in the order in which they were decided.',
        'An event may come twice after a failure: of two with one key, the higher version is the newer.',
        'A deleted record comes as an event with is_deleted, never as a tombstone.',
      ],
      schema: schemas.get(name) ?? {},
      snippets: {
        typescript: `await consumer.subscribe({ topics: ['${name}'], fromBeginning: true })`,
        python: `consumer.subscribe(['${name}'])`,
        java: `consumer.subscribe(List.of("${name}"));`,
      },
    }
  })
}

export const createWorld = (now: () => number) => {
  const rejections: PretendRejection[] = []
  const stored = new Map<string, PretendRecord>()
  const requests: Record<string, unknown>[] = []
  const answers = new Map<string, unknown>()
  const buckets = new Map<number, { accepted: number; refused: number; waiting: number; interactions: number }>()
  const tellers = new Set<(type: string, event: unknown) => void>()
  let offset = 0

  const bucketOf = (at: number) => {
    const start = Math.floor(at / 5000) * 5000
    const bucket = buckets.get(start) ?? { accepted: 0, refused: 0, waiting: 0, interactions: 0 }
    buckets.set(start, bucket)
    return bucket
  }

  const judge = (org: string, type: RecordType, record: unknown): { id: string | null; problems: Problem[] } => {
    const validated = createValidator(type)(record)
    if ('problems' in validated) return validated
    // What interactions refer to is not looked up here.
    const references = type === catalogue.interaction ? [] : createReferencesOf(type)(validated.values)
    const missing = references.filter((reference) => !stored.has(`${org}/${reference.type}/${reference.id}`))
    const id = String(validated.values[type.id] ?? (type === catalogue.interaction ? randomUUID() : ''))
    return {
      id,
      problems: missing.map((reference) => ({
        field: reference.field,
        code: 'unknown_reference',
        message: `${reference.field} ${reference.id} is not a known record of ${reference.type}; upload it first`,
      })),
    }
  }

  const upload = (org: string, typeName: string, given: unknown[], isDryRun: boolean) => {
    const type = catalogue.all.get(typeName)
    if (!type) return undefined
    const isInteraction = type === catalogue.interaction
    const at = new Date(now()).toISOString()
    const request = randomUUID()
    const batch = randomUUID()
    const errors: { index: number; id: string | null; problems: Problem[] }[] = []
    for (const [index, record] of given.entries()) {
      const { id, problems } = judge(org, type, record)
      if (problems.length > 0) {
        errors.push({ index, id, problems })
        if (!isDryRun)
          rejections.unshift({
            rejection_id: `${batch}-${index}`,
            org,
            type: typeName,
            id,
            index,
            request_id: request,
            batch_id: batch,
            rejected_at: at,
            record,
            truncated: false,
            problems,
            state: 'open',
            current_version: null,
          })
      } else if (!isDryRun && id) {
        const name = `${org}/${typeName}/${id}`
        const known = stored.get(name) ?? { org, type: typeName, id, versions: [] }
        known.versions.push({ at, record: record as Record<string, unknown>, request })
        stored.set(name, known)
        for (const row of rejections)
          if (row.org === org && row.type === typeName && row.id === id) row.state = 'accepted_since'
        offset += 1
        const event = {
          partition: 0,
          offset: String(offset),
          at,
          key: `${org}/${id}`,
          value: { org_id: org, ...(record as object), version: String(offset) },
        }
        for (const tell of tellers) tell(`${org} ${typeName}`, event)
      }
    }
    const accepted = given.length - errors.length
    if (!isDryRun) {
      const bucket = bucketOf(now())
      bucket[isInteraction ? 'interactions' : 'accepted'] += accepted
      bucket.refused += errors.length
    }
    const status = errors.length === 0 ? 200 : accepted === 0 ? 400 : 207
    const words = status === 200 ? 'accepted' : status === 207 ? 'partial' : 'refused'
    const answer = {
      request_id: request,
      type: typeName,
      batches: [
        {
          batch: 1,
          status,
          data: {
            status: words,
            message: `${accepted} of ${given.length} records accepted`,
            batch_id: batch,
            error: errors[0] ? 'some were refused' : null,
            ...(errors.length > 0 && { errors }),
          },
        },
      ],
    }
    if (!isDryRun) {
      requests.unshift({
        org,
        request_id: request,
        type: typeName,
        decided_at: at,
        status: words,
        records: given.length,
        accepted,
        refused: errors.length,
        waiting: 0,
      })
      answers.set(`${org}/${request}`, answer)
    }
    return { status: status === 400 ? 400 : status, answer }
  }

  const interact = (record: Record<string, unknown>): Problem[] => {
    // What they refer to is not looked up here.
    const found = createValidator(catalogue.interaction)(record)
    const problems = 'problems' in found ? found.problems : []
    const bucket = bucketOf(now())
    if (problems.length > 0) bucket.refused += 1
    else bucket.interactions += 1
    return problems
  }

  const keyId = 'k7f3a9c1d2e4'
  const journey = (org: string, typeName: string, id: string) => {
    const record = stored.get(`${org}/${typeName}/${id}`)
    const refused = rejections.filter((row) => row.org === org && row.type === typeName && row.id === id)
    const type = catalogue.all.get(typeName)
    if (!type || (!record && refused.length === 0)) return undefined
    const steps: Record<string, unknown>[] = refused.flatMap((row) => [
      {
        at: row.rejected_at,
        kind: 'received',
        words: `Received in a request, sent with the key ${keyId}.`,
        key_id: keyId,
        request_id: row.request_id,
        batch_id: row.batch_id,
        topic: `weir.submitted.${typeName}`,
        partition: 1,
        offset: '41',
      },
      { at: row.rejected_at, kind: 'refused', words: 'it was refused', problems: row.problems },
    ])
    for (const [index, version] of (record?.versions ?? []).entries()) {
      const before = record?.versions[index - 1]?.record
      const number = String(281474976710656 + index)
      steps.push({
        at: version.at,
        kind: 'received',
        words: `Received in a request, sent with the key ${keyId}.`,
        key_id: keyId,
        request_id: version.request,
        topic: `weir.submitted.${typeName}`,
        partition: 1,
        offset: String(42 + index),
      })
      steps.push({ at: version.at, kind: 'accepted', words: 'every check passed' })
      if (before)
        steps.push({
          at: version.at,
          kind: version.record.is_deleted ? 'deleted' : 'changed',
          words: 'a newer version',
          version: number,
          changes: changesOf(before, version.record),
        })
      steps.push({
        at: version.at,
        kind: 'published',
        words: 'its event is on the topic',
        topic: acceptedTopic(typeName),
        partition: 2,
        offset: String(97 + index),
        version: number,
      })
      if (index === (record?.versions.length ?? 0) - 1)
        steps.push({
          at: version.at,
          kind: 'stored',
          words: 'its row is in the view',
          version: number,
          row: { org_id: org, ...version.record },
        })
    }
    const last = record?.versions.at(-1)?.record ?? (refused[0]?.record as Record<string, unknown>) ?? {}
    const refersTo = Object.entries(type.fields).flatMap(([field, { kind, ...rest }]) =>
      kind === 'reference' && typeof last[field] === 'string'
        ? [
            {
              field,
              type: (rest as { to: string }).to,
              id: last[field],
              exists: stored.has(`${org}/${(rest as { to: string }).to}/${last[field]}`),
            },
          ]
        : [],
    )
    const referredBy = [...catalogue.uploads.values()].flatMap((other) => {
      const fields = Object.entries(other.fields).filter(
        ([, field]) => field.kind === 'reference' && field.to === typeName,
      )
      const found = [...stored.values()].filter(
        (each) =>
          each.org === org &&
          each.type === other.type &&
          fields.some(([field]) => each.versions.at(-1)?.record[field] === id),
      )
      return found.length > 0
        ? [{ type: other.type, count: found.length, sample: found.slice(0, 3).map((each) => each.id) }]
        : []
    })
    return { type: typeName, id, steps, refers_to: refersTo, referred_by: referredBy }
  }

  return { rejections, stored, requests, answers, buckets, bucketOf, tellers, upload, interact, journey }
}

const changesOf = (before: Record<string, unknown>, after: Record<string, unknown>) =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((field) => before[field] !== after[field])
    .map((field) => ({ field, before: before[field] ?? null, after: after[field] ?? null }))
