// What differs between two sets of published files, for each audience that relies on them, in sentences that can go into the changelog.
import type { PublishedChange, PublishedFiles } from './change.js'
import { changesInSdk } from './sdk.js'
import { changesInTables } from './tables.js'
import { changesInTopics } from './topics.js'
import { changesForUploaders } from './uploaders.js'

const audiences = {
  uploaders: changesForUploaders,
  topics: changesInTopics,
  tables: changesInTables,
  'SDK types': changesInSdk,
} as const

export type AudienceChange = PublishedChange & { audience: keyof typeof audiences }

export const changesBetween = (before: PublishedFiles, after: PublishedFiles): AudienceChange[] =>
  Object.entries(audiences).flatMap(([name, compare]) => {
    const changes = compare(before, after)
    const breaksFirst = [...changes.filter(({ breaking }) => breaking), ...changes.filter(({ breaking }) => !breaking)]
    return breaksFirst.map((change) => ({ audience: name as keyof typeof audiences, ...change }))
  })

/** As a part of the changelog, and what to do where something breaks. */
export const writeChanges = (against: string, changes: readonly AudienceChange[]): string => {
  const parts = Object.keys(audiences).map((name) => {
    const own = changes.filter(({ audience }) => audience === name)
    const lines = own.map(({ breaking, about }) => `- ${breaking ? '**Breaks:** ' : ''}${about}`)
    return `### For ${name}\n\n${own.length === 0 ? 'Nothing changes.' : lines.join('\n')}\n`
  })
  const breaks = changes.filter(({ breaking }) => breaking).length
  const total = changes.length === 1 ? '1 change' : `${changes.length} changes`
  const end =
    breaks === 0
      ? `${total} since ${against}, none of which breaks anything.`
      : `${total} since ${against}, ${breaks} of which ${breaks === 1 ? 'breaks' : 'break'}. ${whatToDo}`
  return `${parts.join('\n')}\n${end}`
}

const whatToDo =
  'Leave what is there as it is and put an optional field, a column or an endpoint beside it; or keep the change for a major version, announced at least 6 months ahead (docs/compatibility.md).'
