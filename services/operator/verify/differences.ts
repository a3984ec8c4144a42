/** What can be wrong, what it means, and what to do. The names are stable: scripts branch on them. */
export const kinds = {
  decision_forgotten: {
    means: 'a batch was decided and published, and Postgres knows nothing of it: it went back to an earlier state',
    todo: 'see "Postgres went back" in docs/runbook.md',
  },
  verdict_missing: {
    means: 'a batch is decided, but its verdict is not stored: a look-up of its request does not know it',
    todo: 'restore integrity.verdicts from a backup; until then, do not let the batch be sent again under its key',
  },
  verdict_disagrees: {
    means: 'a stored verdict does not count as many records as its batch has',
    todo: 'somebody changed integrity.verdicts, or the log was replaced: compare with a backup',
  },
  wait_missing: {
    means: 'a record began to wait, but is not among those that wait or waited: it will never be decided',
    todo: 'let its uploader send it again; its row in integrity.waiting was removed by hand',
  },
  wait_disagrees: {
    means: 'integrity.waiting tells another end of a record that waited than the log and its verdict do',
    todo: 'the log is right; somebody changed integrity.waiting: compare with a backup',
  },
  event_missing: {
    means: 'a record was accepted, but its event is not on its topic',
    todo: 'weir verify --mend publishes it',
  },
  event_unfounded: {
    means: 'an event is on an accepted topic whose record was not accepted: somebody else writes there',
    todo: 'find the writer; upload the record again with its right values, or with is_deleted: the newer version wins',
  },
  event_turned_back: {
    means: 'the last event of a key on its topic is not its newest: readers of the topic see an old value',
    todo: 'weir verify --mend publishes the newest one again',
  },
  rejection_missing: {
    means: 'a record was refused, but that is not on weir.rejected',
    todo: 'weir verify --mend publishes it',
  },
  rejection_unfounded: {
    means: 'weir.rejected tells of a record that was not refused: somebody else writes there',
    todo: 'find the writer',
  },
  row_missing: {
    means: 'an event is on its topic and was handed to ClickHouse, but its row is not there',
    todo: 'weir rebuild analytics --type <type>',
  },
  rejection_row_missing: {
    means: 'rejections are on weir.rejected and were handed to ClickHouse, but are not all there',
    todo: 'weir rebuild analytics --type rejections',
  },
} as const

export type DifferenceKind = keyof typeof kinds
export const allKinds = Object.keys(kinds) as DifferenceKind[]
/** Those that `--mend` puts right. */
export const mendable: readonly DifferenceKind[] = ['event_missing', 'event_turned_back', 'rejection_missing']

/** One difference, as an example: where it is, in words that lead there. */
type Difference = { kind: DifferenceKind; type: string; where: string; found: string }

/** Counts all differences, and keeps the first few of each kind. */
export const createDifferences = (mostExamples: number) => {
  const counts = new Map<string, Map<DifferenceKind, number>>()
  const examples = new Map<DifferenceKind, Difference[]>()
  return {
    add: (difference: Difference): void => {
      const { kind, type } = difference
      const ofType = counts.get(type) ?? new Map<DifferenceKind, number>()
      ofType.set(kind, (ofType.get(kind) ?? 0) + 1)
      counts.set(type, ofType)
      const some = examples.get(kind) ?? []
      if (some.length < mostExamples) some.push(difference)
      examples.set(kind, some)
    },
    countOf: (type: string, kind?: DifferenceKind): number => {
      const ofType = counts.get(type)
      if (kind) return ofType?.get(kind) ?? 0
      return [...(ofType?.values() ?? [])].reduce((sum, n) => sum + n, 0)
    },
    total: (kind?: DifferenceKind): number =>
      [...counts.values()].flatMap((of) => [...of]).reduce((sum, [k, n]) => sum + (!kind || k === kind ? n : 0), 0),
    examples: (kind: DifferenceKind): readonly Difference[] => examples.get(kind) ?? [],
  }
}

export type Differences = ReturnType<typeof createDifferences>
