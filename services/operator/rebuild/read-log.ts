import type { Kafka, Received } from '#platform/kafka/kafka.js'
import { readTopics, type Stretch } from '#platform/kafka/read-topics.js'
import { OperatorError } from '../command/operator-error.js'
import { createProgress } from '../command/progress.js'
import { until } from '../command/until.js'

export type Handed = { topic: string; partition: number; messages: Received[] }

const longestSilence = 120_000

/** Reads stretches of topics and shows how far it is, counted in offsets: a compacted topic has fewer messages than offsets. */
export const readLog = async (deps: {
  kafka: Kafka
  stretches: readonly Stretch[]
  label: string
  signal: AbortSignal
  onMessages: (handed: Handed) => Promise<void>
}): Promise<void> => {
  const left = deps.stretches.filter(({ from, until }) => from < until).map((each) => ({ ...each }))
  if (left.length === 0) return
  const total = left.reduce((sum, { from, until }) => sum + until - from, 0)
  const progress = createProgress(deps.label, total)
  const isOver = new AbortController()
  let atWork = 0
  let lastSign = Date.now()

  const advance = (topic: string, partition: number, next: number): void => {
    const stretch = left.find((each) => each.topic === topic && each.partition === partition)
    if (!stretch || next <= stretch.from) return
    progress.advance(next - stretch.from)
    stretch.from = next
  }

  const reading = readTopics(deps.kafka, deps.stretches, async (handed) => {
    deps.signal.throwIfAborted()
    isOver.signal.throwIfAborted()
    atWork++
    await deps.onMessages(handed).finally(() => atWork--)
    lastSign = Date.now()
    advance(handed.topic, handed.partition, (handed.messages.at(-1)?.offset ?? -1) + 1)
  })
  const isSilent = () => atWork === 0 && Date.now() - lastSign > longestSilence
  try {
    await Promise.race([reading, watch(deps.signal, isOver.signal, isSilent)])
    // The messages at the end of a stretch may be compacted away, and still count as done.
    for (const { topic, partition, until } of left) advance(topic, partition, until)
    progress.end()
  } finally {
    isOver.abort()
  }
}

/** Rejects when the operator interrupts, or when nothing comes any more. */
const watch = (signal: AbortSignal, isOver: AbortSignal, isSilent: () => boolean): Promise<boolean> =>
  until(
    async () => {
      signal.throwIfAborted()
      if (isSilent()) throw new OperatorError('Kafka has handed out nothing for two minutes: is it well? Try again')
      return false
    },
    { every: 200, signal: isOver },
  )
