import type { Verification } from '#ledger/verify/verifications.js'
import { type Column, toTable, wrap } from '../command/table.js'
import { allKinds, type DifferenceKind, type Differences, kinds, mendable } from './differences.js'
import type { Mended } from './mend.js'
import type { Range, TypeCounts } from './subject.js'

export type Findings = {
  range: Range
  now: number
  counts: readonly TypeCounts[]
  differences: Differences
  mended: Mended | undefined
}

/** Whether nothing differs, apart from what was mended. */
export const isClean = ({ differences, mended }: Findings): boolean =>
  mended && mended.lost.length === 0
    ? allKinds.every((kind) => mendable.includes(kind) || differences.total(kind) === 0)
    : differences.total() === 0

/** What is kept of a run, for dashboards, alerts and `weir status`. */
export const toVerification = (findings: Findings): Omit<Verification, 'ran_at'> => {
  const { range, now, differences, mended } = findings
  const wasMended = (kind: DifferenceKind) => mended?.lost.length === 0 && mendable.includes(kind)
  const left = allKinds.filter((kind) => !wasMended(kind)).reduce((sum, kind) => sum + differences.total(kind), 0)
  return {
    since: new Date(range.since),
    until: new Date(range.until ?? now),
    differences: left,
    is_clean: isClean(findings),
  }
}

export const toJson = (findings: Findings): string => {
  const { range, now, counts, differences, mended } = findings
  return JSON.stringify({
    since: new Date(range.since).toISOString(),
    until: new Date(range.until ?? now).toISOString(),
    is_clean: isClean(findings),
    types: counts.map((of) => ({
      ...Object.fromEntries(Object.entries(of).map(([name, count]) => [jsonNameOf(name), count])),
      differences: Object.fromEntries(
        allKinds.flatMap((kind) =>
          differences.countOf(of.type, kind) > 0 ? [[kind, differences.countOf(of.type, kind)]] : [],
        ),
      ),
    })),
    differences: allKinds.flatMap((kind) => [...differences.examples(kind)]),
    mended: mended ?? null,
  })
}

/** The names of the counts as scripts know them: waiting_for_references, and two with words of their own. */
const jsonNameOf = (name: string): string =>
  ownNames.get(name) ?? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const ownNames = new Map([
  ['repeats', 'repeated_batches'],
  ['forgotten', 'verdicts_no_longer_kept'],
])

export const toText = (findings: Findings, width: number): string => {
  const { counts, differences, range, now } = findings
  const busy = counts.filter((of) => of.batches + of.keys + differences.countOf(of.type) > 0)
  const from = new Date(range.since).toISOString()
  const until = range.until === undefined ? 'now' : new Date(range.until).toISOString()
  if (busy.length === 0) return `nothing was submitted from ${from} to ${until}`
  return [
    `submitted from ${from} to ${until}, as of ${new Date(now).toISOString()}`,
    '',
    toTable(columnsOf(differences), busy, width),
    '',
    ...remarks(busy),
    ...(differences.total() === 0
      ? ['no difference']
      : allKinds.filter((kind) => differences.total(kind) > 0).flatMap((kind) => toLines(kind, findings, width))),
    ...mendedLines(findings),
  ].join('\n')
}

const columnsOf = (differences: Differences): Column<TypeCounts>[] => [
  { title: 'TYPE', cell: (of) => of.type, wraps: true },
  { title: 'RECORDS', cell: (of) => String(of.records) },
  { title: 'WAITING', cell: (of) => String(of.waiting + of.waitingForReferences) },
  { title: 'ACCEPTED', cell: (of) => String(of.accepted) },
  { title: 'TOPIC', cell: (of) => String(of.onTopic) },
  { title: 'REFUSED', cell: (of) => String(of.refused) },
  { title: 'TOPIC', cell: (of) => String(of.onRejected) },
  { title: 'ROWS', cell: (of) => String(of.rows) },
  { title: 'DIFFER', cell: (of) => String(differences.countOf(of.type)) },
]

/** What is counted, but is no difference. */
const remarks = (counts: readonly TypeCounts[]): string[] => {
  const lines = Object.entries(remarkOf).flatMap(([name, text]) => {
    const count = counts.reduce((sum, of) => sum + of[name as keyof typeof remarkOf], 0)
    return count > 0 ? [`${count} ${text}`] : []
  })
  return lines.length > 0 ? [...lines, ''] : []
}

const remarkOf = {
  waiting: 'records wait to be decided',
  waitingForReferences: 'records wait for a record that they refer to',
  decidedAnew: 'records waited and were decided anew',
  superseded: 'records waited until a newer one of their id took their place',
  cancelled: 'records waited until somebody cancelled it',
  inFlight: 'events or rows are on their way',
  compacted: 'events were replaced by newer ones and compacted away',
  gone: 'events are missing of records that are gone: a message without a value says so',
  repeats: 'batches repeat an earlier one',
  forgotten: 'batches have a verdict that is no longer kept: their events cannot be checked',
  unreadable: 'messages cannot be read, and were set aside',
}

const toLines = (kind: DifferenceKind, { counts, differences, mended }: Findings, width: number): string[] => {
  const { means } = kinds[kind]
  const types = counts.map(({ type }) => type).filter((type) => differences.countOf(type, kind) > 0)
  const todo = kinds[kind].todo.replace('--type <type>', types.map((type) => `--type ${type}`).join(' '))
  const examples = differences.examples(kind)
  const more = differences.total(kind) - examples.length
  return [
    ...wrap(`${kind} (${differences.total(kind)}): ${means}`, width),
    ...(mended && mendable.includes(kind) ? [] : wrap(`→ ${todo}`, width - 2).map((line) => `  ${line}`)),
    ...examples.map(({ type, where, found }) => `  ${where.includes(type) ? '' : `${type}: `}${where}: ${found}`),
    ...(more > 0 ? [`  and ${more} more`] : []),
    '',
  ]
}

const mendedLines = ({ mended }: Findings): string[] => {
  if (!mended) return []
  const { events, rejections, lost } = mended
  return [
    `mended: ${events} events and ${rejections} rejections were published again`,
    ...lost.map((what) => `cannot be mended: ${what}: neither log nor verdicts tell of its newest event`),
  ]
}
