import { everybody, keptFrom, type Rule } from '#ledger/erasures/record-retention.js'
import type { Catalogue } from '#schemas/catalogue.js'
import type { RecordType } from '#schemas/record.js'

/** From when on records of a type are kept, in milliseconds: of single organisations, and of all others, where they have a rule. */
export type KeptFrom = { type: RecordType; byOrg: ReadonlyMap<string, number>; others: number | undefined }

export const cutoffsOf = (
  { all }: Pick<Catalogue, 'all'>,
  rules: readonly Pick<Rule, 'org' | 'type' | 'keep'>[],
  now: number,
): KeptFrom[] => {
  const types = [...new Set(rules.map(({ type }) => type))].sort()
  return types.map((name) => {
    const type = all.get(name)
    if (!type) throw new Error(`there is no type ${name}`)
    const byOrg = new Map(
      rules.filter((rule) => rule.type === name).map(({ org, keep }) => [org, keptFrom(keep, now).getTime()]),
    )
    const others = byOrg.get(everybody)
    byOrg.delete(everybody)
    return { type, byOrg, others }
  })
}

/** Whether what an organisation had at a moment is too old. */
export const isTooOld = ({ byOrg, others }: KeptFrom, org: string, at: number): boolean =>
  at < (byOrg.get(org) ?? others ?? 0)

/** The latest of them: what came since is of no interest. */
export const latestOf = ({ byOrg, others }: KeptFrom): number => Math.max(others ?? 0, ...byOrg.values())

/** The same in ClickHouse, about a column with a moment. */
export const isTooOldSql = (cutoffs: KeptFrom, column: string): string => {
  const { byOrg, others } = cutoffs
  const given = [...byOrg]
  const from =
    given.length === 0
      ? String(others ?? 0)
      : `transform(org_id, [${given.map(([org]) => `'${org}'`)}], [${given.map(([, at]) => `toInt64(${at})`)}], toInt64(${others ?? 0}))`
  return `${column} < fromUnixTimestamp64Milli(toInt64(${latestOf(cutoffs)}), 'UTC') and toUnixTimestamp64Milli(${column}) < ${from}`
}
