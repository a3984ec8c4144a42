import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import avro from 'avsc'
import type { Command } from 'commander'
import { toAvroContainer } from '#platform/avro-container.js'
import { acceptedSchema } from '#schemas/derive/avro.js'
import { acceptedTopic } from '#schemas/derive/names.js'
import { hasVersions, type RecordType } from '#schemas/record.js'
import {
  historyOf,
  newField,
  referredTo,
  type SampleEvent,
  type TopicSample,
  type Write,
} from '#schemas/samples/history.js'
import { asPublished, finalStateOf, type PublishedSample } from '#schemas/samples/published.js'
import { readCount, readName } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import { examplesAnd, type Session } from '../command/session.js'

type Options = {
  count: string
  seed: string
  deletes?: boolean
  duplicates?: boolean
  newFields?: boolean
  out?: string
  expected?: string
  json?: boolean
}

export const addTopicsSample = (topics: Command, session: Session): void => {
  topics
    .command('sample')
    .argument('<type>', 'whose events, such as transactions')
    .description(
      'write made-up events as they are on the topic of a type, to test a consumer with; no system is needed',
    )
    .option('--count <number>', 'how many records; with their versions there are more events', '1000')
    .option('--deletes', 'some records are deleted, and some of those come back')
    .option('--duplicates', 'events come again, alone and in whole stretches, and old versions late')
    .option('--new-fields', `events have an optional field that is in no schema yet, ${newField}`)
    .option(
      '--out <file>',
      'the file: events.avro (a container with the schema) or events.ndjson; without it, NDJSON is printed',
    )
    .option(
      '--expected <file>',
      'write what a right consumer has at the end: the newest event of each live record, as NDJSON',
    )
    .option('--seed <number>', 'another one gives other events; the same one always the same', '1')
    .option('--json', 'say what was written as JSON')
    .addHelpText(
      'after',
      examplesAnd(
        about,
        'topics sample transactions --count 1000 --deletes --duplicates --out events.avro --expected state.ndjson',
        'topics sample shops --count 3',
      ),
    )
    .action((type: string, options: Options) => run(type, options, session))
}

const about = `
Samples of one seed fit together: what a record refers to is among the first ${referredTo} records of its type. A right consumer keeps of
each record the version that is the highest, and not those with is_deleted (docs/for-downstream-teams.md).`

const run = (name: string, options: Options, session: Session): void => {
  const wish = readWish(name, options, session)
  const { type } = wish
  const pathOf = (file: string) =>
    resolve(session.env.npm_lifecycle_event === 'weir' ? (session.env.INIT_CWD ?? '') : '', file)
  const out = options.out === undefined ? undefined : pathOf(options.out)
  if (out !== undefined && !/\.(avro|ndjson)$/.test(out))
    throw new OperatorError("the end of the file's name says the format: .avro or .ndjson, as in --out events.avro")
  if (options.json && out === undefined)
    throw new OperatorError(
      '--json says what was written: name a file with --out, or leave --json out to get the events',
    )

  const history = historyOf(wish)
  const published = asPublished(history, wish)
  const state = finalStateOf(published.events, type.id)
  const summary = summaryOf(wish, history, published, state)
  if (options.expected !== undefined) write(pathOf(options.expected), ndjson(state))
  if (out === undefined) {
    session.print(ndjson(published.events).trimEnd())
    session.note(inWords('these are', type, summary))
  } else {
    write(out, out.endsWith('.avro') ? toContainer(wish, published.events) : ndjson(published.events))
    session.print(options.json ? JSON.stringify({ file: out, ...summary }) : inWords(`${options.out}:`, type, summary))
  }
}

const readWish = (name: string, options: Options, { catalogue }: Session): TopicSample => {
  const type = catalogue.all.get(readName('type', name, [...catalogue.all.keys()])) as RecordType
  if (options.deletes && !hasVersions(type))
    throw new OperatorError(`${type.type} are never changed or deleted: leave --deletes out`)
  const count = readCount(options.count, '--count is a number from 1 to 100000', 1)
  if (count > 100_000) throw new OperatorError('--count is a number from 1 to 100000')
  return {
    type,
    count,
    seed: readCount(options.seed, '--seed is a number from 0 to 999999'),
    deletes: options.deletes ?? false,
    duplicates: options.duplicates ?? false,
    newFields: options.newFields ?? false,
  }
}

const ndjson = (events: readonly SampleEvent[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('')

const toContainer = ({ type, newFields }: TopicSample, events: readonly SampleEvent[]): Buffer => {
  const { fields, ...named } = acceptedSchema(type) as { fields: unknown[] }
  const added = { name: newField, type: ['null', 'string'], doc: 'a field that came later', default: null }
  const schema = { ...named, fields: newFields ? [...fields, added] : fields }
  const avroType = avro.Type.forSchema(schema as avro.Schema)
  return toAvroContainer(
    JSON.stringify(schema),
    events.map((event) => avroType.toBuffer(event)),
  )
}

const write = (path: string, content: string | Buffer): void => {
  try {
    writeFileSync(path, content)
  } catch (error) {
    throw new OperatorError(`${path} cannot be written (${(error as NodeJS.ErrnoException).code}): name another file`)
  }
}

type SampleSummary = ReturnType<typeof summaryOf>

const summaryOf = (
  { type, count, newFields }: TopicSample,
  history: readonly Write[],
  { events, duplicates, replays, replayed, late }: PublishedSample,
  state: readonly SampleEvent[],
) => {
  const written = (kind: Write['kind']) => history.filter((each) => each.kind === kind).length
  return {
    topic: acceptedTopic(type.type),
    events: events.length,
    records: count,
    ...{ changed: written('changed'), deleted: written('deleted'), restored: written('restored') },
    ...{ duplicates, replays, replayed, late },
    new_fields: newFields ? [newField] : [],
    expected: { records: state.length, checksum: checksumOf(state, type.id) },
  }
}

/** SHA-256 of a line "<id> <version>" for each record, sorted by id: a consumer in any language can make the same. */
export const checksumOf = (state: readonly SampleEvent[], id: string): string =>
  createHash('sha256')
    .update(state.map((event) => `${event[id]} ${event.version}\n`).join(''))
    .digest('hex')

const inWords = (begins: string, type: RecordType, summary: SampleSummary): string => {
  const { topic, events, records, changed, deleted, restored, duplicates, replays, replayed, late, expected } = summary
  return [
    `${begins} ${events} events of ${records} ${type.type}, as on ${topic}`,
    `  versions     ${changed} changes, ${deleted} deletes, ${restored} that come back after a delete`,
    `  repetitions  ${duplicates} duplicates, ${replays === 1 ? '1 replay' : `${replays} replays`} with ${replayed} events, ${late} events after a newer version of their record`,
    ...summary.new_fields.map((name) => `  new field    ${name}, in the later half of what was accepted`),
    'What a right consumer has at the end:',
    `  records      ${expected.records}`,
    `  checksum     ${expected.checksum}`,
    `               (SHA-256 of a line "<${type.id}> <version>" for each of them, sorted by id)`,
  ].join('\n')
}
