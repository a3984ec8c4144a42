import { catalogue } from '#schemas/catalogue.js'
import type { Check, Finding } from './finding.js'
import { groupBy } from './writes.js'

const { type: interactionType } = catalogue.interaction

/** A feed hands over every accepted version, nothing else, and of each record the older before the newer. */
export const checkFeeds: Check = (_ledger, { feeds, histories, views }) => {
  const handed = groupBy(feeds, ({ org, type, id }) => `${type} ${org}/${id}`)
  const accepted = new Map([
    ...histories,
    ...(views[interactionType] ?? []).map((row): [string, undefined] => [
      `${interactionType} ${row.org_id}/${row.interaction_id}`,
      undefined,
    ]),
  ])
  const lost = [...accepted].flatMap(([key, versions]): Finding[] => {
    const seen = new Set((handed.get(key) ?? []).map(({ version }) => version))
    if (!versions) return seen.size > 0 ? [] : [{ name: 'lost-from-feed', about: `${key} is not in the feed` }]
    // A reader that begins in the middle gets the newest version of that moment first.
    const first = Math.min(...seen)
    const missing = versions.filter((version) => version >= first && !seen.has(version))
    if (seen.size === 0) return [{ name: 'lost-from-feed', about: `${key} is not in the feed` }]
    return missing.map((version) => ({
      name: 'lost-from-feed',
      about: `version ${version} of ${key} is not in the feed`,
    }))
  })
  const wrong = [...handed].flatMap(([key, events]): Finding[] => {
    if (!accepted.has(key)) return [{ name: 'stranger-in-feed', about: `${key} is in the feed, and was not accepted` }]
    const versions = accepted.get(key)
    const strangers = events.filter(({ version }) => versions && !versions.includes(version))
    const firsts = [...new Set(events.map(({ version }) => version))]
    const isInOrder = firsts.every((version, n) => n === 0 || version > (firsts[n - 1] ?? 0))
    return [
      ...strangers.map(({ version }) => ({
        name: 'stranger-in-feed',
        about: `${key} is in the feed as version ${version}`,
      })),
      ...(isInOrder ? [] : [{ name: 'disorder-in-feed', about: `${key} comes as versions ${firsts.join(', ')}` }]),
    ]
  })
  return [...lost, ...wrong]
}
