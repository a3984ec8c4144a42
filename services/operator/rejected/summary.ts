import type { Prospect } from './prospect.js'
import type { Sent } from './send-again.js'

/** What a run did, or would do, for machines. */
export const toSummary = (prospect: Prospect, sent: Sent, dryRun: boolean) => ({
  ...(dryRun ? { would_send: prospect.records } : { accepted: sent.accepted, refused: sent.refused }),
  superseded: prospect.superseded,
  cannot_be_retried: prospect.cannotBeRetried + sent.gone,
  already_retried: prospect.alreadyRetried,
  resumed: prospect.resumed,
  dry_run: dryRun,
})

/** What would be sent, organisation by organisation. */
export const toProspectText = (prospect: Prospect): string => {
  const counts = new Map<string, number>()
  for (const { org, type, wanted } of prospect.jobs) {
    const name = `${type} of ${org}`
    counts.set(name, (counts.get(name) ?? 0) + wanted.length)
  }
  return [
    `to send again: ${counts.size === 0 ? 'nothing' : [...counts].map(([name, count]) => `${count} ${name}`).join(', ')}`,
    ...(prospect.resumed > 0 ? [`of these, ${prospect.resumed} finish an earlier run`] : []),
    `left out: ${prospect.superseded} superseded, ${prospect.cannotBeRetried} that cannot be retried, ` +
      `${prospect.alreadyRetried} retried before`,
  ].join('\n')
}

/** What an operator may want to do now. */
export const nextSteps = (prospect: Prospect, sent: Sent): string[] => [
  ...(sent.refused > 0
    ? ['Refused again: "weir rejected list --since 10m" says why; they are new rejections, which can be retried.']
    : []),
  ...(prospect.superseded > 0
    ? ['Superseded: a later record of the same id was accepted; --even-superseded overwrites it.']
    : []),
  ...(prospect.cannotBeRetried + sent.gone > 0
    ? ['Cannot be retried: too large to be kept whole, unreadable, or gone; their uploader has to send them again.']
    : []),
  ...(prospect.records === 0
    ? [`Nothing was sent: ${prospect.alreadyRetried} were retried before. "weir rejected list" shows what there is.`]
    : []),
]
