import { breakingInViews, viewsIn } from '../release/contracts.js'
import { adds, breaks, type PublishedChange, type PublishedFiles } from './change.js'

/** The views of records and marts in ClickHouse. Nothing is promised of the tables below them. */
export const changesInTables = (before: PublishedFiles, after: PublishedFiles): PublishedChange[] => {
  const [old, now] = [before, after].map((files) => viewsIn(statementsIn(files))) as [Views, Views]
  const added = Object.entries(now).flatMap(([view, columns]) => {
    const known = old[view]
    if (!known) return [`the view ${view} is new`]
    const names = Object.keys(columns).filter((name) => known[name] === undefined)
    return names.map((name) => `${view}.${name} is new: ${columns[name]}`)
  })
  return [...breakingInViews(old, now).map(breaks), ...added.map(adds)]
}

type Views = ReturnType<typeof viewsIn>

/** As `publishedFiles` has joined them. */
const statementsIn = (files: PublishedFiles): string[] =>
  (files.get('schemas/published/clickhouse.sql') ?? '').split(/;\n\n?/)
