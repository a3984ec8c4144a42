import { setTimeout as wait } from 'node:timers/promises'
import type { Command } from 'commander'
import {
  announceGeneration,
  findGenerations,
  type Generation,
  openGeneration,
  withdrawGeneration,
} from '#ledger/layout/layout.js'
import { placeOf } from '#platform/kafka/partitions.js'
import type { Producer } from '#platform/kafka/producer.js'
import { stretchesOf } from '#platform/kafka/read-topics.js'
import { inTransaction } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { closingMessage, closingProbe } from '#schemas/closing-mark.js'
import { type Layout, submittedTopicsOf } from '#schemas/derive/topics.js'
import { mostGenerations } from '#schemas/version.js'
import { alone } from '../command/alone.js'
import { readCount } from '../command/arguments.js'
import { OperatorError } from '../command/operator-error.js'
import type { Parts } from '../command/servers.js'
import { examplesAnd, type Session } from '../command/session.js'
import { until } from '../command/until.js'
import { closeTopics, openTopics, provisionTopics } from '../provision/topics.js'

type Options = { lanes?: string; partitions?: string; json?: boolean }
type LanesChanged = { from: Layout; to: Layout; generation: number; took_ms: number; finished: boolean }

export const addLanesChange = (lanes: Command, session: Session): void => {
  lanes
    .command('change')
    .description('give every organisation more or fewer lanes, while the system runs')
    .option('--lanes <number>', 'how many lanes an organisation has for each type')
    .option(
      '--partitions <number>',
      'how many partitions each submitted topic has; as many as now where it is not said',
    )
    .option('--json', 'one line of JSON: from, to, generation, took_ms, finished')
    .addHelpText('after', examplesAnd(about, 'lanes change --lanes 4', 'lanes change --lanes 8 --partitions 24'))
    .action((options: Options) => run(options, session))
}

const about = `
Makes new submitted topics, and has the edges write to them. Integrity decides
what is in the old ones first. Uploads wait for about three seconds, and nothing
is lost. All services have to be of this version. A command that was stopped on
its way can be given again.

When it is done, set LANES and SUBMITTED_PARTITIONS to the new numbers where
your services have them in their environment, before they are started again.`

const settleFor = 3_000
const closedWithin = 60_000
const workedOffWithin = 10 * 60_000

const run = async (options: Options, session: Session): Promise<void> => {
  const { config, catalogue } = session
  const wish = readWish(options)
  const changed = await session.withParts(['pool', 'kafka'], (parts) =>
    alone(parts.pool, 'lanes change', () =>
      changeLanes({ ...parts, catalogue, copies: config.KAFKA_REPLICATION, report: session.note }, wish),
    ),
  )
  if (options.json) session.print(JSON.stringify(changed))
  else
    session.print(
      `${changed.to.lanes} lanes and ${changed.to.submittedPartitions} partitions, in ${(changed.took_ms / 1000).toFixed(1)} s.` +
        (changed.finished
          ? ''
          : ' Integrity has not yet decided all that was sent before: it goes on with that by itself.'),
    )
}

type Wish = { lanes: number; partitions: number | undefined }

const readWish = ({ lanes, partitions }: Options): Wish => {
  if (lanes === undefined) throw new OperatorError('how many lanes? Such as: "weir lanes change --lanes 4"')
  const problem = (option: string) => `${option} takes a number from 1 on, such as 4`
  return {
    lanes: readCount(lanes, problem('--lanes'), 1),
    partitions: partitions === undefined ? undefined : readCount(partitions, problem('--partitions'), 1),
  }
}

type ChangeDeps = Pick<Parts, 'pool' | 'kafka'> & {
  catalogue: Catalogue
  copies: number | undefined
  report: (line: string) => void
}

/** The layout after the one that is open now; throws where there can be none. */
export const nextLayout = (generations: readonly Generation[], { lanes, partitions }: Wish): Generation => {
  const open = generations.findLast(({ state }) => state === 'open')
  if (!open) throw new OperatorError('this system is not provisioned yet: run "weir provision" first')
  const submittedPartitions = partitions ?? Math.max(open.submittedPartitions, lanes)
  if (lanes > 256 || submittedPartitions > 1000)
    throw new OperatorError('there can be 256 lanes and 1000 partitions at the most')
  if (lanes > submittedPartitions)
    throw new OperatorError(`${lanes} lanes need as many partitions: --partitions ${lanes} or more`)
  if (lanes === open.lanes && submittedPartitions === open.submittedPartitions)
    throw new OperatorError(
      `there are ${lanes} lanes and ${submittedPartitions} partitions already: nothing was changed`,
    )
  const undecided = generations.find(({ state }) => state === 'closed')
  if (undecided)
    throw new OperatorError(
      'integrity has not yet decided all that was sent before the last change: wait until "weir lanes show" says so',
    )
  const generation = open.generation + 1
  if (generation >= mostGenerations)
    throw new OperatorError(
      `the lanes were changed ${open.generation} times, and versions have no room for another change: make a new system, and send it the records of this one`,
    )
  return { ...open, generation, lanes, submittedPartitions, state: 'coming', ends: {} }
}

export const changeLanes = async (deps: ChangeDeps, wish: Wish): Promise<LanesChanged> => {
  const { pool, kafka, catalogue, report } = deps
  const begun = performance.now()
  const generations = await findGenerations(pool)
  const next = nextLayout(generations, wish)
  const from = generations.findLast(({ state }) => state === 'open') as Generation
  const old = submittedTopicsOf(catalogue, from.generation)

  await provisionTopics(kafka, catalogue, deps.copies, next)
  report(
    `topics made: ${submittedTopicsOf(catalogue, next.generation).length} with ${next.submittedPartitions} partitions`,
  )
  await announceGeneration(pool, next)
  let isOpened = false
  try {
    // Every edge looks once a second: what it has cut into batches by then it writes to the old topics.
    await wait(settleFor)
    const ends = await closeAll(deps, from, old)
    report('old topics closed: edges hold uploads back for a moment')
    await inTransaction(pool, (connection) => openGeneration(connection, next.generation, ends))
    isOpened = true
  } finally {
    if (!isOpened) await undo(deps, from, next).catch((error: Error) => report(`could not be undone: ${error.message}`))
  }
  report('new topics open: edges write to them')
  const isFinished = async () =>
    (await findGenerations(pool)).some(
      ({ generation, state }) => generation === from.generation && state === 'finished',
    )
  const finished = await until(isFinished, { every: 250, within: workedOffWithin })
  const { lanes, submittedPartitions, acceptedPartitions } = next
  const { state: _, ends: __, generation: ___, ...before } = from
  return {
    from: before,
    to: { lanes, submittedPartitions, acceptedPartitions },
    generation: next.generation,
    took_ms: Math.round(performance.now() - begun),
    finished,
  }
}

/** Lets the old topics take writes again, and the edges go on. */
const undo = async ({ pool, kafka, catalogue }: ChangeDeps, from: Layout, next: Generation): Promise<void> => {
  await kafka.withAdmin((admin) => openTopics(admin, catalogue, from))
  await withdrawGeneration(pool, next.generation)
}

/** From then on nothing can be written to these topics; resolves to where each partition ends. */
const closeAll = async (
  { kafka, catalogue }: ChangeDeps,
  from: Layout,
  topics: readonly string[],
): Promise<Record<string, number>> => {
  await kafka.withAdmin((admin) => closeTopics(admin, catalogue, from))
  const places = await stretchesOf(kafka, topics)
  const producer = await kafka.createProducer()
  try {
    await Promise.all(places.map((place) => closePartition(producer, place)))
  } finally {
    await producer.close()
  }
  return Object.fromEntries((await stretchesOf(kafka, topics)).map((stretch) => [placeOf(stretch), stretch.until]))
}

/** Asks the partition's leader itself until it refuses what is as large as a batch, and then ends the partition with the mark. */
const closePartition = async (
  producer: Pick<Producer, 'send'>,
  { topic, partition }: { topic: string; partition: number },
): Promise<void> => {
  const isClosed = async (): Promise<boolean> => {
    try {
      await producer.send(topic, partition, [closingProbe()], { deadline: performance.now() + 10_000 })
      return false
    } catch (error) {
      if (isTooLarge(error)) return true
      throw error
    }
  }
  if (!(await until(isClosed, { every: 100, within: closedWithin })))
    throw new OperatorError(`${topic}/${partition} still takes messages: are all brokers running?`)
  await producer.send(topic, partition, [closingMessage], { deadline: performance.now() + 30_000 })
}

/** Whether Kafka refused a message for its size, and for nothing else. */
const isTooLarge = (error: unknown): boolean => {
  const { type, cause } = error as { type?: string; cause?: unknown }
  return type === 'MESSAGE_TOO_LARGE' || (cause !== undefined && isTooLarge(cause))
}
