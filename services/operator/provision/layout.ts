import { findCursors } from '#ledger/cursors.js'
import { type LayoutVariables, refuseOtherLayout } from '#ledger/layout/check-layout.js'
import { findLayout } from '#ledger/layout/layout.js'
import type { Kafka } from '#platform/kafka/kafka.js'
import { countPartitions } from '#platform/kafka/read-topics.js'
import type { Pool } from '#platform/postgres/postgres.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { acceptedTopic, submittedTopic } from '#schemas/derive/names.js'
import { type Layout, usualLayout } from '#schemas/derive/topics.js'
import { OperatorError } from '../command/operator-error.js'

export type LayoutWish = LayoutVariables & {
  /** Partitions of each topic of a new system, where the variables do not say. */
  newPartitions: number | undefined
}

/** What is known of a system before it is provisioned. */
export type LayoutFacts = {
  stored: Layout | undefined
  /** Whether integrity has ever decided anything. */
  hasDecided: boolean
  /** The partitions of Kafka's topics, where there are any. */
  submittedPartitions: number | undefined
  acceptedPartitions: number | undefined
}

export const nothingKnown: Omit<LayoutFacts, 'stored'> = {
  hasDecided: false,
  submittedPartitions: undefined,
  acceptedPartitions: undefined,
}

/** The layout that the topics have or will get. Nothing is stored yet: only once the topics are made as it says. */
export const findOrChooseLayout = async (
  pool: Pool,
  kafka: Kafka,
  catalogue: Catalogue,
  wish: LayoutWish,
): Promise<Layout> => {
  const stored = await findLayout(pool)
  if (stored) return chooseLayout({ ...nothingKnown, stored }, wish)
  const there = new Set(await kafka.withAdmin((admin) => admin.listTopics()))
  const countAny = async (topicOf: (type: string) => string): Promise<number | undefined> => {
    const topic = [...catalogue.uploads.keys()].map(topicOf).find((name) => there.has(name))
    return topic === undefined ? undefined : (await countPartitions(kafka, [topic])).get(topic)
  }
  const facts = {
    stored,
    hasDecided: (await findCursors(pool)).size > 0,
    submittedPartitions: await countAny(submittedTopic),
    acceptedPartitions: await countAny(acceptedTopic),
  }
  return chooseLayout(facts, wish)
}

/**
 * A stored layout counts for ever. A system from before layouts were stored has one lane and the partitions that it has. Where Postgres
 * knows of no decision, the lanes are those that are asked for; the partitions too, where Kafka has no topics yet.
 */
export const chooseLayout = (facts: LayoutFacts, wish: LayoutWish): Layout => {
  const layout = facts.stored ?? {
    lanes: facts.hasDecided ? 1 : (wish.LANES ?? usualLayout.lanes),
    submittedPartitions:
      facts.submittedPartitions ?? wish.SUBMITTED_PARTITIONS ?? wish.newPartitions ?? usualLayout.submittedPartitions,
    acceptedPartitions:
      facts.acceptedPartitions ?? wish.ACCEPTED_PARTITIONS ?? wish.newPartitions ?? usualLayout.acceptedPartitions,
  }
  try {
    refuseOtherLayout(layout, wish)
  } catch (error) {
    throw new OperatorError((error as Error).message)
  }
  if (layout.lanes > layout.submittedPartitions)
    throw new OperatorError(
      `LANES=${layout.lanes} needs as many partitions, and there are ${layout.submittedPartitions}: ` +
        `set SUBMITTED_PARTITIONS=${layout.lanes} or more`,
    )
  return layout
}
