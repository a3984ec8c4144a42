import type { Row } from '../observe/observed.js'
import { idFieldOf, uploadTypes } from '../workload/plan.js'
import type { Check, Finding } from './finding.js'
import { acceptedOf, groupBy, keyOf, type Write } from './writes.js'

/** Every record that was accepted is in its view exactly once, with its last value; deleted and refused ones are not. */
export const checkViews: Check = (ledger, observed) => {
  const accepted = acceptedOf(ledger, observed)
  return uploadTypes.flatMap((type) => {
    const last = new Map(accepted.filter((write) => write.type === type).map((write) => [keyOf(write), write]))
    const rows = groupBy(observed.views[type] ?? [], (row) => `${row.org_id}/${row[idFieldOf(type)]}`)
    const current = new Map([...last].filter(([, { record }]) => record.is_deleted !== true))
    return [
      ...[...current].flatMap(([key, write]) => compare(type, key, write, rows.get(key) ?? [])),
      ...[...rows.keys()]
        .filter((key) => !current.has(key))
        .map((key) => ({
          name: last.has(key) ? 'deleted-in-view' : 'stranger-in-view',
          about: `${type} ${key} is in its view`,
        })),
    ]
  })
}

const compare = (type: string, key: string, { record }: Write, rows: Row[]): Finding[] => {
  const [row] = rows
  if (!row) return [{ name: 'lost-from-view', about: `${type} ${key}, ${record.name}, is not in its view` }]
  if (rows.length > 1) return [{ name: 'twice-in-view', about: `${type} ${key} is in its view ${rows.length} times` }]
  const wrong = Object.keys(record).filter((field) => row[field] !== record[field])
  const about = `${type} ${key}: ${wrong.map((field) => `${field} is ${row[field]}, not ${record[field]}`).join('; ')}`
  return wrong.length === 0 ? [] : [{ name: 'stale-in-view', about }]
}
