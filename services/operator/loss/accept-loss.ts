import type { Command } from 'commander'
import { insertAcceptedLoss, lockCursor } from '#ledger/cursors.js'
import { insertForgotten, markForgotten, skipChanges } from '#ledger/mending/forgotten-verdicts.js'
import type { DecidedBatchAt } from '#ledger/verdicts.js'
import { groupBy } from '#platform/group-by.js'
import { GroupRuns } from '#platform/kafka/admin/move-group.js'
import { countedFrom, placeOf } from '#platform/kafka/partitions.js'
import { readTopics, stretchesOf } from '#platform/kafka/read-topics.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import { schemasByTopic, verdictSchema } from '#schemas/derive/avro.js'
import {
  edgeGroups,
  subjectOf,
  submittedKey,
  submittedTopic,
  typeOfSubmitted,
  verdictsTopic,
} from '#schemas/derive/names.js'
import type { SubmittedBatch, VerdictEvent } from '#schemas/events.js'
import { derivedId } from '#schemas/uuid.js'
import { alone } from '../command/alone.js'
import { createDecoder } from '../command/decoder.js'
import { OperatorError } from '../command/operator-error.js'
import type { Parts } from '../command/servers.js'
import { examplesAnd, type Session } from '../command/session.js'
import type { Loss, LossDeps } from './find-losses.js'

type Options = { yes?: boolean; json?: boolean }

export const addAcceptLoss = (program: Command, session: Session): void => {
  program
    .command('accept-loss')
    .description('say what Kafka or Postgres has lost for good, and with --yes let integrity go on without it')
    .option('--yes', 'accept it; without this nothing is changed')
    .option('--json', 'one line of JSON: accepted, losses[]')
    .addHelpText('after', examplesAnd(about, 'accept-loss', 'accept-loss --yes'))
    .action((options: Options) => run(options, session))
}

const about = `
For partitions at which integrity stands still because the submitted log and
Postgres no longer fit together. Restore what was lost from a copy if you can:
this command is for when there is none. "When a part forgets" in
docs/runbook.md says what is lost, and what comes before --yes: every edge is
stopped, since what it appended meanwhile would be lost too.`

const run = async ({ yes = false, json = false }: Options, session: Session): Promise<void> => {
  const { catalogue } = session
  // Loaded only here, with the Avro library: every other command starts sooner.
  const { findLateOnes, findLosses } = await import('./find-losses.js')
  const losses = await session.withParts(['pool', 'kafka', 'registry'], (parts) =>
    alone(parts.pool, 'accept-loss', async () => {
      const found = await findLosses({ ...parts, catalogue })
      if (!yes) return found
      const deps = { ...parts, catalogue }
      const ofKafka = found.filter(({ by }) => by === 'Kafka')
      const ofPostgres = found.filter(({ by }) => by === 'Postgres')
      if (ofKafka.length > 0) await refuseRunningEdges(parts.kafka)
      if (ofPostgres.length > 0) {
        await bringVerdictsBack(parts)
        await decideAgain(deps, ofPostgres)
      }
      for (const loss of ofKafka) await acceptCut(deps, loss)
      // What came all the same, as from an edge that started this moment, is named as well.
      for (const loss of ofKafka) loss.undecided.push(...(await findLateOnes(deps, loss)))
      return found
    }),
  )
  if (json) session.print(JSON.stringify({ accepted: yes, losses }))
  else session.print(losses.map(describe).join('\n\n') || 'Nothing is lost: log and Postgres fit together.')
  if (losses.length > 0 && !json)
    session.note(
      yes ? 'Accepted: integrity goes on.' : 'Nothing was changed. To go on without it: "weir accept-loss --yes"',
    )
  if (!yes && !json && losses.some(({ by }) => by === 'Postgres')) session.note(beforePostgres)
}

const beforePostgres =
  'Before that: stop integrity, and bring back what others refer to with "weir rebuild index". All steps: "Postgres went back" in docs/runbook.md'

/**
 * What an edge appends while the lost offsets are filled lands on them, and is never decided, though it may have been answered 202.
 * Appended once more it could come behind a newer record of the same id: so nothing may be appended meanwhile. Integrity may run:
 * what its relay appends for waiting records it appends again.
 */
const refuseRunningEdges = (kafka: Parts['kafka']): Promise<void> =>
  kafka.withAdmin(async (admin) => {
    const ids = (await admin.listGroups()).groups.map(({ groupId }) => groupId)
    const { groups } = await admin.describeGroups(ids.filter((groupId) => groupId.startsWith(edgeGroups)))
    const running = groups.reduce((sum, { members }) => sum + members.length, 0)
    if (running > 0)
      throw new OperatorError(
        `an edge runs: what is uploaded now would be lost with the rest. Stop every edge, then "weir accept-loss --yes" again (one that was killed counts as running for 10 s)`,
      )
  })

const mostNamed = 20

const describe = (loss: Loss): string => {
  const offsets = `${placeOf(loss)}: offsets ${loss.from} to ${loss.until - 1}`
  if (loss.by === 'Postgres')
    return `${offsets} were decided and published, and Postgres knows nothing of them. They are decided again, and get the verdicts that were published.`
  const never = 'came to these offsets since and are never decided: their senders have to send them again'
  return [
    `${offsets} were decided, and Kafka has lost them. What was accepted of them and published stays.`,
    ...named('lost after they were decided', loss.decided),
    ...named(never, loss.undecided),
  ].join('\n')
}

const named = (what: string, batches: readonly DecidedBatchAt[]): string[] => {
  if (batches.length === 0) return []
  const line = ({ org_id, request_id, batch_id, records }: DecidedBatchAt) =>
    `    ${org_id}: request ${request_id}, batch ${batch_id}, ${records} records`
  const shown = batches.slice(0, mostNamed).map(line)
  const more = batches.length > mostNamed ? [`    and ${batches.length - mostNamed} more: --json names all`] : []
  return [`  ${batches.length} batches ${what}:`, ...shown, ...more]
}

/**
 * Versions are offsets. A batch that gets an offset for the second time would lose against what was published of the first one,
 * so the log is filled up to the cursor with batches that hold nothing, and what lies there is passed over.
 */
const acceptCut = async ({ pool, kafka, registry, catalogue }: LossDeps, loss: Loss): Promise<void> => {
  const { topic, partition, until } = loss
  await inTransaction(pool, async (connection) => {
    if ((await lockCursor(connection, loss))?.next !== until)
      throw new OperatorError(
        `integrity has decided more of ${placeOf(loss)} meanwhile: look again, "weir accept-loss"`,
      )
    await insertAcceptedLoss(connection, loss)
  })
  // All generations share the subject of the first.
  const subject = submittedTopic(typeOfSubmitted(topic))
  const schema = schemasByTopic(catalogue.all.values()).get(subject)
  const encode = await registry.encoder<SubmittedBatch>(subjectOf(subject), schema)
  const producer = await kafka.createProducer()
  try {
    for (let end = await endOf(kafka, loss); end < until; end = await endOf(kafka, loss)) {
      const messages = Array.from({ length: Math.min(until - end, 1000) }, (_, i) => {
        const batch = emptyBatch(placeOf(loss), end + i)
        return { key: submittedKey(batch), value: encode(batch) }
      })
      await producer.send(topic, partition, messages)
    }
  } finally {
    await producer.close()
  }
}

const endOf = async (kafka: Parts['kafka'], loss: Loss): Promise<number> => (await endsOf(kafka, [loss]))(loss)

/** Where the log of each of these partitions ends, asked for all of them at once. */
const endsOf = async (kafka: Parts['kafka'], losses: readonly Loss[]): Promise<(loss: Loss) => number> => {
  const stretches = await stretchesOf(kafka, [...new Set(losses.map(({ topic }) => topic))])
  const ends = new Map(stretches.map((each) => [placeOf(each), each.until]))
  return (loss) => ends.get(placeOf(loss)) ?? loss.until
}

const emptyBatch = (place: string, offset: number): SubmittedBatch => {
  const id = derivedId('accepted loss', place, String(offset))
  return {
    org_id: 'weir',
    request_id: id,
    batch_id: id,
    batch: 1,
    batches: 1,
    first_index: 0,
    submitted_at: Date.now(),
    body_sha256: Buffer.alloc(0),
    records: [],
    refusals: [],
    gathered: false,
    keyed_requests: [],
  }
}

/** What was published on the batches that are decided again: each gets the verdict that its uploader was given, with its time. */
const bringVerdictsBack = async ({ kafka, registry, pool }: Pick<LossDeps, 'kafka' | 'registry' | 'pool'>) => {
  const decode = createDecoder<VerdictEvent>(registry, verdictSchema())
  await readTopics(kafka, await stretchesOf(kafka, [verdictsTopic]), async ({ messages }) => {
    const verdicts: VerdictEvent[] = []
    for (const { value } of messages) {
      const verdict = await decode(value)
      if (verdict) verdicts.push(verdict)
    }
    await insertForgotten(pool, verdicts)
  })
  await skipChanges(pool)
}

/** Integrity's groups go back to where Postgres is. Only a group without members can be moved. */
const decideAgain = async ({ kafka, pool }: LossDeps, losses: readonly Loss[]): Promise<void> => {
  const endAt = await endsOf(kafka, losses)
  // Up to the end of the log: what was decided last may have been published before the group could say so.
  for (const loss of losses) await markForgotten(pool, { ...loss, until: Math.max(loss.until, endAt(loss)) })
  for (const [groupId, ofGroup] of groupBy(losses, (loss) => loss.groupId)) {
    const places = ofGroup.map(({ topic, partition, from }) => ({
      topic,
      partition,
      offset: String(from - countedFrom(topic)),
    }))
    await kafka.moveGroup(groupId, places).catch((error: Error) => {
      if (!(error instanceof GroupRuns)) throw error
      throw new OperatorError('integrity runs: stop every instance of it, then "weir accept-loss --yes" again')
    })
  }
}
