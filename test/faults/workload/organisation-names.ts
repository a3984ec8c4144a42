import { partitionOf } from '#platform/kafka/partitions.js'

const partitions = 4

/** Names of organisations whose batches go to different partitions, so that every integrity instance has some of them. */
export const organisationNames = (stem: string, count: number): string[] => {
  const names = new Map<number, string>()
  for (let n = 0; names.size < Math.min(count, partitions); n++) {
    const partition = partitionOf(`${stem}-${n}`, partitions)
    if (!names.has(partition)) names.set(partition, `${stem}-${n}`)
  }
  return [...names.values()]
}
