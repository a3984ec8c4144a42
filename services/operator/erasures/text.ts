import { asShown, type Counted, type Erasure } from '#ledger/erasures/erasures.js'
import type { Proof } from '#persons/erase/prove.js'
import { type Column, toDistance, toTableWithIds } from '../command/table.js'

// An erasure in words. None of them names the person.

export const erasureAsJson = (erasure: Erasure) => ({
  ...asShown(erasure),
  org: erasure.orgId,
  asked_by: erasure.askedBy,
  report: erasure.report,
  signature: erasure.signature,
})

export const toErasureTable = (erasures: readonly Erasure[], now: Date, width: number): string => {
  const facts: Column<Erasure>[] = [
    { title: 'ORG', cell: ({ orgId }) => orgId },
    { title: 'MODE', cell: ({ mode, isDryRun }) => (isDryRun ? `${mode}, dry run` : mode) },
    { title: 'ASKED', cell: ({ askedAt }) => toDistance(askedAt, now) },
    { title: 'STATE', cell: stateOf, wraps: true },
  ]
  return toTableWithIds(facts, [{ title: 'ERASURE', cell: ({ erasureId }) => erasureId }], erasures, width)
}

const stateOf = ({ status, step, problem }: Erasure): string => {
  if (status === 'done') return 'done'
  return [`${status}: ${step}`, ...(problem === null ? [] : [problem])].join('; ')
}

export const toErasureText = (erasure: Erasure, now: Date): string => {
  const { erasureId, orgId, mode, isDryRun, askedBy, askedAt, endedAt, found, problem } = erasure
  const at = (moment: Date): string => `${moment.toISOString()} (${toDistance(moment, now)})`
  return [
    `erasure ${erasureId} of ${orgId}: ${isDryRun ? `dry run of ${mode}, which removes nothing` : mode}`,
    `  state    ${stateOf(erasure)}`,
    `  asked    ${at(askedAt)}, by ${askedBy}`,
    ...(endedAt === null ? [] : [`  ${erasure.status === 'failed' ? 'failed ' : 'ended  '}  ${at(endedAt)}`]),
    ...(erasure.status === 'failed' ? [`  next     ${nextOf(erasure)}`] : []),
    `  found    ${found === null ? 'not counted yet' : (countsOf(found)[0] ?? 'nothing')}`,
    ...countsOf(found ?? [])
      .slice(1)
      .map((line) => `           ${line}`),
    ...(isDryRun ? [] : [`  later    ${laterOf(erasure)}`, `  proof    ${proofOf(erasure, problem)}`]),
  ].join('\n')
}

const nextOf = ({ erasureId, isDryRun }: Erasure): string =>
  isDryRun ? 'ask for it again' : `it is tried on every hour; "weir erasures again ${erasureId}" begins it at once`

const laterOf = ({ mode, afterwards }: Erasure): string => {
  if (mode === 'organisation') return 'nothing is taken for it, and its id is not given again'
  return `uploads that name the person are ${afterwards === 'refuse' ? 'refused' : 'taken as of somebody new'}`
}

const proofOf = ({ erasureId, report }: Erasure, problem: string | null): string => {
  if (report === null) return problem === null ? 'made when it is done' : 'none, as long as the problem is there'
  return `signed, with --json here; "weir erasures prove ${erasureId}" reads everything again`
}

export const countsOf = (counts: readonly Counted[]): string[] => {
  const wide = Math.max(0, ...counts.map(({ where }) => where.length))
  return counts.map(({ where, count }) => `${where.padEnd(wide)}  ${count}`)
}

const mostShown = 20

/** What a signed report says. */
export const inWords = ({ erasure_id, organisation, mode, asked_at, checked_at, found_before, left, read }: Proof) => {
  const topics = new Set(read.topics.map(({ topic }) => topic)).size
  const places = countsOf(left.slice(0, mostShown)).map((line) => `  ${line}`)
  const whose = mode === 'organisation' ? `the organisation ${organisation}` : `the person of erasure ${erasure_id}`
  return [
    left.length === 0
      ? `Nothing is left of ${whose}.`
      : `${counted(left.length, 'place')} still ${left.length === 1 ? 'has' : 'have'} something of ${whose}:`,
    ...places,
    ...(left.length > mostShown ? [`  and ${left.length - mostShown} more, which the report names`] : []),
    `${organisation}, ${mode}, asked for ${asked_at}, read ${checked_at}: ${counted(topics, 'topic')} (${counted(read.topics.length, 'partition')}) from end to end,`,
    `and all tables of ClickHouse and Postgres. Before: ${found_before.map(({ where, count }) => `${where} ${count}`).join(', ') || 'nothing'}.`,
  ]
}

const counted = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`
