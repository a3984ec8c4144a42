/** A partition's name, to keep something by it and to tell people of it. */
export const placeOf = ({ topic, partition }: { topic: string; partition: number }): string => `${topic}/${partition}`
