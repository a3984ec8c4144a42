import { type Column, toDistance, toTable, wrap } from '../command/table.js'
import type { PartitionLag, Stage } from './lag.js'
import type { Look, ServiceState, SystemLook } from './look.js'

/** Something that is wrong, or worth knowing, and what to do next. */
export type Remark = { what: string; next: string }
export type Judgement = { wrong: Remark[]; remarks: Remark[] }

// The bounds of the alerts in deploy/prometheus/alerts.yml.
const latest: Record<Stage, number> = { decide: 30_000, write: 600_000 }
const longestWait = 12 * 3_600_000
const leastFree = 0.1
const verifyEvery = 7 * 86_400_000

/** What is wrong with a system. Pure: what was found goes in. */
export const judge = ({ services, kafka, postgres, clickhouse }: SystemLook, now: Date): Judgement => {
  const wrong: Remark[] = []
  const remarks: Remark[] = []
  const ageOf = (then: Date): number => now.getTime() - then.getTime()

  for (const { name, problems } of services)
    for (const [part, problem] of Object.entries(problems))
      wrong.push({
        what: part === name ? `${name} ${problem}` : `${name}, ${part}: ${problem}`,
        next: part === name ? 'is it running? Its log says why not, or why it hangs' : awayPage,
      })
  for (const part of [kafka, postgres, clickhouse]) if (!part.ok) wrong.push({ what: part.problem, next: awayPage })
  const versions = new Set(services.flatMap(({ version }) => version ?? []))
  if (versions.size > 1)
    remarks.push({
      what: `services of ${[...versions].join(' and ')} run side by side`,
      next: 'finish the upgrade: docs/operations.md, "Upgrading"',
    })

  if (kafka.ok)
    for (const stage of ['decide', 'write'] as const) {
      const late = kafka.found.filter((one) => one.stage === stage && one.oldest && ageOf(one.oldest) > latest[stage])
      const [worst] = late.sort((a, b) => (a.oldest?.getTime() ?? 0) - (b.oldest?.getTime() ?? 0))
      if (worst?.oldest)
        wrong.push({
          what: `${worst.topic}/${worst.partition} has waited to be ${doneIn[stage]} since ${toDistance(worst.oldest, now)}`,
          next: `docs/runbook.md, "${stage === 'decide' ? 'WeirVerdictsLate' : 'WeirSinkBehind'}"`,
        })
    }
  if (postgres.ok) {
    const { oldest_wait, keys_ending, erasures_failed, last_verify } = postgres.found
    if (oldest_wait && ageOf(oldest_wait) > longestWait)
      wrong.push({
        what: `a record has waited since ${toDistance(oldest_wait, now)} for what it refers to`,
        next: '"weir waiting list"',
      })
    if (erasures_failed > 0)
      wrong.push({
        what: `${erasures_failed} ${erasures_failed === 1 ? 'erasure has' : 'erasures have'} failed`,
        next: '"weir erasures list" says why; docs/runbook.md, "An erasure does not go on"',
      })
    const [first] = keys_ending
    if (first)
      remarks.push({
        what: `${keys_ending.length} keys in use end within 14 days, ${first.key_id} of ${first.org} ${toDistance(first.expires_at, now)}`,
        next: `"weir keys rotate ${first.key_id}"`,
      })
    if (last_verify && !last_verify.is_clean)
      wrong.push({
        what: `the last verify found ${last_verify.differences} differences`,
        next: '"weir verify" names them, and what mends them',
      })
    else if (!last_verify || ageOf(last_verify.ran_at) > verifyEvery)
      remarks.push({
        what: last_verify
          ? `nothing was verified for ${Math.floor(ageOf(last_verify.ran_at) / 86_400_000)} days`
          : 'nothing was ever verified',
        next: '"weir verify --since 24h", best once a day',
      })
  }
  if (clickhouse.ok) {
    const { free, size, set_aside } = clickhouse.found
    if (size > 0 && free / size < leastFree)
      wrong.push({
        what: `${toSize(free)} of ${toSize(size)} are free on the disk of ClickHouse`,
        next: 'make room; docs/operations.md, "Retention"',
      })
    if (set_aside > 0)
      wrong.push({
        what: `${set_aside} messages could not be read in the last 24 hours`,
        next: '"weir rejected list --code undecodable"',
      })
  }
  return { wrong, remarks }
}

const awayPage = 'docs/runbook.md, "When something is away"'
const doneIn: Record<Stage, string> = { decide: 'decided', write: 'written' }

export const toJson = (found: SystemLook, { wrong, remarks }: Judgement, now: Date): string =>
  JSON.stringify({ at: now, is_well: wrong.length === 0, ...found, wrong, remarks })

/** One screen. */
export const toText = (found: SystemLook, { wrong, remarks }: Judgement, now: Date, width: number): string => {
  const { postgres, clickhouse, kafka } = found
  const facts: [string, string][] = [
    ...(['decide', 'write'] as const).flatMap((stage) => lagLines(kafka, stage, now)),
    [
      'waiting',
      said(
        postgres,
        ({ waiting, oldest_wait }) =>
          `${waiting} records wait for what they refer to${oldest_wait ? `, the oldest since ${toDistance(oldest_wait, now)}` : ''}`,
      ),
    ],
    ['set aside', said(clickhouse, ({ set_aside }) => `${set_aside} messages in 24 hours could not be read`)],
    ['Postgres', said(postgres, ({ used_bytes }) => `${toSize(used_bytes)} of data`)],
    [
      'ClickHouse',
      said(
        clickhouse,
        ({ used, free, size }) => `${toSize(used)} of data; ${toSize(free)} of ${toSize(size)} are free`,
      ),
    ],
    ['keys', said(postgres, ({ keys_ending }) => `${keys_ending.length} in use end within 14 days`)],
    [
      'last verify',
      said(postgres, ({ last_verify }) =>
        last_verify ? `${toDistance(last_verify.ran_at, now)}: ${last_verify.differences} differences` : 'never',
      ),
    ],
  ]
  const wide = Math.max(...facts.map(([title]) => title.length)) + 2
  return [
    toTable(serviceColumns, found.services, width),
    '',
    ...facts.map(([title, text]) => `${title.padEnd(wide)}${text}`),
    '',
    wrong.length === 0 ? 'all is well' : `${wrong.length} ${wrong.length === 1 ? 'thing is' : 'things are'} wrong:`,
    ...wrong.flatMap((one) => toLines(one, width)),
    ...(remarks.length > 0 ? ['', 'worth knowing:', ...remarks.flatMap((one) => toLines(one, width))] : []),
  ].join('\n')
}

const toLines = ({ what, next }: Remark, width: number): string[] => [
  ...wrap(`- ${what}`, width),
  ...wrap(`→ ${next}`, width - 2).map((line) => `  ${line}`),
]

const serviceColumns: Column<ServiceState>[] = [
  { title: 'SERVICE', cell: ({ name }) => name },
  {
    title: 'STATE',
    cell: ({ is_ready, problems, name }) => (is_ready ? 'ready' : problems[name] ? 'away' : 'not ready'),
  },
  { title: 'VERSION', cell: ({ version, commit }) => [version ?? '–', commit?.slice(0, 7)].filter(Boolean).join(' ') },
  { title: 'WHERE', cell: ({ address }) => address, wraps: true },
]

const mostShown = 3

const lagLines = (kafka: Look<PartitionLag[]>, stage: Stage, now: Date): [string, string][] => {
  const title = `to be ${doneIn[stage]}`
  if (!kafka.ok) return [[title, 'unknown']]
  const behind = kafka.found.filter((one) => one.stage === stage && one.lag > 0)
  const what = stage === 'decide' ? 'batches' : 'events'
  const sum = behind.reduce((all, { lag }) => all + lag, 0)
  return [
    [title, behind.length === 0 ? `0 ${what}` : `${sum} ${what} in ${behind.length} partitions`],
    ...behind
      .slice(0, mostShown)
      .map(({ topic, partition, lag, oldest }): [string, string] => [
        '',
        `${topic}/${partition}: ${lag}${oldest ? `, the oldest from ${toDistance(oldest, now)}` : ''}`,
      ]),
  ]
}

const said = <T>(look: Look<T>, say: (found: T) => string): string => (look.ok ? say(look.found) : 'unknown')

const toSize = (bytes: number): string => {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const step = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  const amount = bytes / 1000 ** step
  return `${amount < 10 && step > 0 ? amount.toFixed(1) : Math.round(amount)} ${units[step]}`
}
