import type { Command } from 'commander'
import type { Log } from '#platform/health/log.js'
import { readDuration } from '../desk/arguments.js'
import { examples, type Session } from '../desk/session.js'

type Options = { demoKeyFile?: string; wait: string }

export const addProvision = (program: Command, session: Session, log: Log): void => {
  program
    .command('provision')
    .description('prepare Postgres, Kafka, the schema registry and ClickHouse; what is there already is kept')
    .option('--demo-key-file <file>', 'also make the organisation demo, and keep its key in this file')
    .option('--wait <duration>', 'how long to wait for a part that does not answer yet', '60s')
    .addHelpText('after', examples('provision', 'provision --demo-key-file .data/demo-key'))
    .addHelpText(
      'after',
      `
Environment:
  KAFKA_BROKERS, SCHEMA_REGISTRY_URL, POSTGRES_URL, CLICKHOUSE_URL   where the parts are
  KAFKA_REPLICATION   copies of each topic that is created (default 1)
  WEIR_DEMO_KEY       is the demo organisation's key when set`,
    )
    .action((options: Options) => run(options, session, log))
}

const run = async (options: Options, session: Session, log: Log): Promise<void> => {
  // The clients of four parts: loaded only here, every other command takes 0.55 s instead of 0.8.
  const { provision } = await import('./provision.js')
  await provision({
    config: session.config,
    catalogue: session.catalogue,
    log,
    report: session.note,
    wait: readDuration(options.wait),
    demoKeyFile: options.demoKeyFile,
  })
}
