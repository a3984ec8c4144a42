import { createInterface } from 'node:readline/promises'

/** Whether somebody sits at a terminal who can be asked. */
export const canAsk = (): boolean => Boolean(process.stdin.isTTY && process.stderr.isTTY)

/** Asks on standard error, so that the answer does not stand in a command's result. Only a yes is a yes. */
export const confirm = async (question: string, signal?: AbortSignal): Promise<boolean> => {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await asking.question(`${question} [y/N] `, signal ? { signal } : {})
    return /^y(es)?$/i.test(answer.trim())
  } finally {
    asking.close()
  }
}
