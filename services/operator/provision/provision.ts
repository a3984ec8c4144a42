import type { Command } from 'commander'
import { listSegmentVersions } from '#ledger/analytics/segments.js'
import { keepLayout } from '#ledger/layout/layout.js'
import { DeletedOrg } from '#ledger/organisations.js'
import { readAccess } from '#platform/process/access.js'
import { acceptedTopic } from '#schemas/derive/names.js'
import { readCount, readDuration } from '../command/arguments.js'
import { withParts } from '../command/servers.js'
import { examplesAnd, type Session } from '../command/session.js'
import { copySegments } from '../segments/copy.js'
import { type DemoKeyProvisioned, provisionDemoKey } from './demo-key.js'
import { chooseLayout, findOrChooseLayout, nothingKnown } from './layout.js'
import { compareSubjects, provisionSubjects } from './subjects.js'
import { provisionTables, type TablesProvisioned } from './tables.js'
import { provisionTopics } from './topics.js'

type Options = { demoKeyFile?: string; wait?: string; newPartitions?: string; quick?: boolean }

export const addProvision = (program: Command, session: Session): void => {
  program
    .command('provision')
    .description('prepare Postgres, Kafka, the schema registry and ClickHouse; what is there already is kept')
    .option('--demo-key-file <file>', 'also make the organisation demo, and keep its key in this file')
    .option('--wait <duration>', 'how long to wait for parts that are only just starting, such as 60s')
    .option('--new-partitions <number>', 'of each topic, where the topics are made now and no variable says it')
    .option('--quick', "leave ClickHouse's tables and views as they are where the same Weir made all of them")
    .addHelpText('after', examplesAnd(environment, 'provision', 'provision --wait 60s --demo-key-file .data/demo-key'))
    .action(({ wait, demoKeyFile, newPartitions, quick }: Options) => {
      const { config, catalogue, log, note } = session
      const problem = '--new-partitions takes a number from 1 on, such as 24'
      return provision({
        ...{ config, catalogue, log, report: note, demoKeyFile, quick },
        wait: wait === undefined ? undefined : readDuration(wait),
        newPartitions: newPartitions === undefined ? undefined : readCount(newPartitions, problem, 1),
      })
    })
}

const environment = `
Environment:
  KAFKA_BROKERS, SCHEMA_REGISTRY_URL, POSTGRES_URL, CLICKHOUSE_URL   where the parts are
  KAFKA_REPLICATION   copies of each topic that is created (default 3,
                      or as many as there are brokers)
  LANES, SUBMITTED_PARTITIONS, ACCEPTED_PARTITIONS   how wide a new system is
                      (defaults 1, 4 and 4); a system keeps what it was made with
  WEIR_DEMO_KEY       is the demo organisation's key when set`

type ProvisionOptions = Pick<Session, 'config' | 'catalogue' | 'log'> & {
  /** One short line for each step. */
  report: (line: string) => void
  /** Milliseconds that parts may take that are only just starting. */
  wait: number | undefined
  demoKeyFile: string | undefined
  /** Whether tables and views are left as they are where the same Weir made all of them. */
  quick?: boolean | undefined
  /** Partitions of each topic of a new system, where no variable says it. */
  newPartitions?: number | undefined
}

/** Makes all that the services expect to find. It may be run again, and by several operators at the same time. */
export const provision = (options: ProvisionOptions): Promise<void> => {
  const begun = performance.now()
  return withParts(
    options,
    ['pool', 'kafka', 'registry', 'clickhouse'],
    async ({ pool, kafka, registry, clickhouse }) => {
      const { config, catalogue, report, demoKeyFile, quick } = options
      const reportStep = (sentence: string, started: number): void =>
        report(`${sentence} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
      const step = async <T>(work: () => Promise<T>, sentence: (done: T) => string): Promise<void> => {
        const started = performance.now()
        reportStep(sentence(await work()), started)
      }

      const later: string[] = []
      reportStep('all parts answer', begun)
      // First of all: what may not change is refused before anything else has changed.
      const olderTopics = await compareSubjects(registry, catalogue)
      const newer = new Set([...catalogue.all.keys()].filter((type) => olderTopics.has(acceptedTopic(type))))
      if (newer.size > 0)
        later.push(`a newer Weir was provisioned here: its tables of ${[...newer].join(', ')} are kept`)
      await step(
        // Loaded only here: every other command starts sooner.
        async () => (await import('#ledger/migrate.js')).migrate(readAccess(config, ['postgres']).postgres),
        ({ run }) => `Postgres: ${run} migrations run`,
      )
      await step(
        async () => {
          const wish = { ...config, newPartitions: options.newPartitions }
          const layout = await findOrChooseLayout(pool, kafka, catalogue, wish)
          const made = await provisionTopics(kafka, catalogue, config.KAFKA_REPLICATION, layout)
          // Of two operators who make a new system at the same time, the second has to agree with the first.
          return { ...made, layout: chooseLayout({ ...nothingKnown, stored: await keepLayout(pool, layout) }, wish) }
        },
        ({ topics, created, altered, copies, layout: { lanes, submittedPartitions, acceptedPartitions } }) =>
          `Kafka: ${topics} topics, ${created} created${created > 0 && copies > 1 ? ` with ${copies} copies each` : ''}, ${altered} altered; ` +
          `LANES=${lanes} SUBMITTED_PARTITIONS=${submittedPartitions} ACCEPTED_PARTITIONS=${acceptedPartitions}`,
      )
      await step(
        async () => {
          const made = await provisionTables(clickhouse, catalogue, newer, { quick })
          await copySegments(clickhouse, await listSegmentVersions(pool))
          return made
        },
        ({ statements, ...rest }) => {
          later.push(...adviceOf(rest))
          return statements > 0 ? `ClickHouse: ${statements} statements` : 'ClickHouse: everything is there'
        },
      )
      // After the tables: no event with a new field can be written before its subject has it, and by then it has its column.
      await step(
        () => provisionSubjects(registry, catalogue),
        ({ subjects }) => `registry: ${subjects} subjects`,
      )
      if (demoKeyFile !== undefined || config.WEIR_DEMO_KEY !== undefined)
        await step(
          () => provisionDemoKey(pool, { key: config.WEIR_DEMO_KEY, file: demoKeyFile }).catch(unlessDeleted),
          toSentence,
        )
      later.forEach(report)
    },
    { requestTimeout: 60_000, wait: options.wait },
  )
}

/** What is left to the operator. */
const adviceOf = ({ analysts, outdated }: Pick<TablesProvisioned, 'analysts' | 'outdated'>): string[] => {
  const advice: string[] = []
  if (outdated.length > 0) {
    const tables = outdated.length === 1 ? '1 table keeps' : `${outdated.length} tables keep`
    const command = 'run "weir rebuild analytics" once to keep every version from now on'
    advice.push(`${tables} only the newest version of each record: ${command}`)
  }
  if (analysts === undefined) {
    const command = 'let "weir analysts update --org acme --print" show what each needs now'
    advice.push(`this ClickHouse user cannot see analysts: where there are any, ${command}`)
  }
  return advice
}

/** Who deleted the organisation wants the system to start all the same. */
const unlessDeleted = (error: unknown): undefined => {
  if (!(error instanceof DeletedOrg)) throw error
}

const toSentence = (made: DemoKeyProvisioned | undefined): string => {
  if (!made) return 'demo: the organisation was deleted, and gets no key'
  const { keyId, from } = made
  if (from === 'new') return `demo: new key ${keyId}`
  return `demo: key ${keyId} of ${from === 'file' ? 'the key file' : 'WEIR_DEMO_KEY'}`
}
