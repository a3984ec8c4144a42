import type { Command } from 'commander'
import { findLayout } from '#ledger/layout/layout.js'
import { lookAtPostgres } from '#ledger/verify/server-settings.js'
import { reasonOf } from '#platform/health/health.js'
import { timeOf } from '#platform/postgres/rows.js'
import { within } from '#platform/process/within.js'
import { usualLayout } from '#schemas/derive/topics.js'
import { readDuration } from '../command/arguments.js'
import { examplesAnd, type Session, toPasted } from '../command/session.js'
import { wrap } from '../command/table.js'
import { examineClickHouse, lookAtClickHouse } from './clickhouse.js'
import { type Examined, type Finding, wrong } from './finding.js'
import { examineKafka, lookAtKafka } from './kafka.js'
import { examinePostgres } from './postgres.js'
import { examineRegistry, lookAtRegistry } from './registry.js'
import {
  type ClockFacts,
  examineCertificates,
  examineClocks,
  examineVariables,
  readCertificates,
} from './surroundings.js'

type Options = { json?: boolean; strict?: boolean; wait: string }

export const addDoctor = (program: Command, session: Session): void => {
  program
    .command('doctor')
    .description('compare the parts and their settings with what Weir needs, and say what mends each problem')
    .option('--wait <duration>', 'how long each part may take to answer', '15s')
    .option('--strict', 'warnings fail too')
    .option('--json', 'one line: is_well, and parts with their findings (level, what, mend)')
    .addHelpText('after', examplesAnd(about, 'doctor', 'doctor --strict --json'))
    .action(async ({ json = false, strict = false, wait }: Options) => {
      const examined = await examine(session, readDuration(wait))
      const failing = examined.flatMap(({ findings }) => findings).filter(({ level }) => strict || level === 'wrong')
      const isWell = failing.length === 0
      session.print(
        json
          ? JSON.stringify({ is_well: isWell, parts: examined })
          : toPasted(toText(examined, session.width), session.config.CALLED_AS),
      )
      if (!isWell) session.endWith(1)
    })
}

const about = `
It changes nothing. It looks at the versions, the topics and the brokers' settings that matter, at Postgres (fsync, synchronous_commit,
standbys, connections, tables), ClickHouse (rights, tables, disk), the registry's rules, clocks, certificates that end soon, and at
variables of this shell that look like mistyped settings. Run it where the services' environment is. A part that does not answer
is a finding; the others are looked at all the same.
Exit code: 0 nothing is wrong (warnings are allowed, unless --strict), 1 something is.`

const examine = async ({ config, catalogue, withParts, env }: Session, ms: number): Promise<Examined[]> => {
  const clocks: ClockFacts[] = []
  const noteClock = (part: string, theirs: number, asked: number): void => {
    // The time in the middle of the way there and back.
    const answered = Date.now()
    clocks.push({ part, ahead: theirs - (asked + answered) / 2, unsure: (answered - asked) / 2 })
  }
  const layout = await tried(ms, () => withParts(['pool'], ({ pool }) => findLayout(pool)))
  const parts = await Promise.all([
    examined('Kafka', ms, () =>
      withParts(['kafka'], async ({ kafka }) =>
        examineKafka(
          await lookAtKafka(kafka, {
            ...{ catalogue, layout: layout ?? usualLayout },
            sessionTimeout: config.KAFKA_SESSION_TIMEOUT_MS,
          }),
        ),
      ),
    ),
    examined('Postgres', ms, () =>
      withParts(['pool'], async ({ pool }) => {
        const asked = Date.now()
        noteClock('Postgres', await timeOf(pool), asked)
        return examinePostgres(await lookAtPostgres(pool))
      }),
    ),
    examined('registry', ms, () =>
      withParts(['registry'], async ({ registry }) => examineRegistry(await lookAtRegistry(registry, catalogue))),
    ),
    examined('ClickHouse', ms, () =>
      withParts(['clickhouse'], async ({ clickhouse }) => {
        const asked = Date.now()
        const [time] = await clickhouse.query<{ ms: number }>(
          'select toFloat64(toUnixTimestamp64Milli(now64(3))) as ms',
        )
        noteClock('ClickHouse', time?.ms ?? 0, asked)
        return examineClickHouse(await lookAtClickHouse(clickhouse, catalogue))
      }),
    ),
  ])
  const now = new Date()
  return [
    ...parts,
    examineClocks(clocks.sort((a, b) => (a.part < b.part ? -1 : 1))),
    examineVariables(env),
    examineCertificates(readCertificates(env), now),
  ]
}

const tried = <T>(ms: number, ask: () => Promise<T>): Promise<T | undefined> => within(ms, ask()).catch(() => undefined)

const examined = async (part: string, ms: number, ask: () => Promise<Examined>): Promise<Examined> => {
  try {
    return await within(ms, ask())
  } catch (error) {
    const mend = 'bring it back, or name it rightly: docs/settings.md, "Where the parts are"'
    return { part, about: 'could not be looked at', findings: [wrong(reasonOf(error), mend)] }
  }
}

export const toText = (examined: readonly Examined[], width: number): string => {
  const all = examined.flatMap(({ findings }) => findings)
  const count = (level: Finding['level']) => all.filter((one) => one.level === level).length
  const lines = examined.flatMap(({ part, about: known, findings }) => [
    ...wrap(`${findings.length === 0 ? 'ok' : '--'}  ${part}: ${known}`, width),
    ...findings.flatMap(({ level, what, mend }) => [
      ...wrap(`${level}: ${what}`, width - 4).map((line) => `    ${line}`),
      ...wrap(`→ ${mend}`, width - 6).map((line) => `      ${line}`),
    ]),
  ])
  return [...lines, '', `${count('wrong')} wrong, ${count('warning')} warnings`].join('\n')
}
