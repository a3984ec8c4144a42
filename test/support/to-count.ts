import { InvalidArgumentError } from 'commander'

/** Reads a number of things from a command line. */
export const toCount = (text: string): number => {
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1) throw new InvalidArgumentError('It must be a whole number from 1 on.')
  return count
}
