import type { Catalogue } from '../../catalogue.js'
import { marts } from '../../marts/all.js'
import { hasVersions, type RecordType } from '../../record.js'
import * as names from '../names.js'
import { keptMarts, martsInParts } from './kept.js'

// The names of everything that "weir provision" makes in ClickHouse.

/** The tables that views read from. Each has a column org_id. */
export const tablesOf = (catalogue: Catalogue): string[] => [
  ...ofEach(catalogue, [names.logTableOf], [names.currentTableOf]),
  ...[names.rejectionsLog, names.waitingLog, names.shownTable],
  ...keptMarts.map(({ name }) => names.keptTableOf(name)),
  ...[names.ownSegmentsTable, names.ownMembersTable, names.segmentSizesTable],
]

export const viewsOf = (catalogue: Catalogue): string[] => [
  ...viewsOfRecords(catalogue),
  ...keptMarts.flatMap(({ name }) => [names.notKeptViewOf(name), names.notKeptIfAnyOf(name)]),
  ...marts.map(({ name }) => name),
]

/** The views that stand a second time in `weir_masked`, with persons masked. */
export const maskedViewsOf = (catalogue: Catalogue): string[] => [
  ...viewsOfRecords(catalogue),
  ...marts.map(({ name }) => name),
]

const viewsOfRecords = (catalogue: Catalogue): string[] => [
  ...ofEach(catalogue, [names.viewOf], [names.historyViewOf, names.asOfViewOf]),
  ...[names.rejectionsView, names.waitingView, names.qualityView],
]

/** What fills tables from others, and what only the services read. */
export const innerOf = (catalogue: Catalogue): string[] => [
  names.changesTable,
  names.maskSaltsTable,
  ...martsInParts.map(({ name }) => names.sortedTableOf(name)),
  ...ofEach(catalogue, [names.changesFeedOf], [names.currentFeedOf]),
]

type NameOf = (type: string) => string

const ofEach = ({ all }: Catalogue, nameOfAny: NameOf[], nameOfVersioned: NameOf[]): string[] => {
  const namesOf = (type: RecordType): NameOf[] => (hasVersions(type) ? [...nameOfAny, ...nameOfVersioned] : nameOfAny)
  return [...all.values()].flatMap((type) => namesOf(type).map((nameOf) => nameOf(type.type)))
}
