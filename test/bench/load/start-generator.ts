import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Answered, FromGenerator, LoadPlan, LoadResult, ToGenerator } from './plan.js'

export type Generator = {
  pid: number
  /** Uploads records with ids that later requests refer to. */
  know: (given: { type: string; count: number; url: string; key: string }) => Promise<LoadResult>
  /** Sends what the plan says. */
  load: (plan: LoadPlan, listener?: Listener) => Promise<LoadResult>
  stop: () => void
}

export type Listener = {
  /** Called when bodies and connections are ready, just before the first request. */
  onBegan?: () => void
  /** Called for some of the accepted records, as they are answered. */
  onAnswered?: (answered: Answered) => void
}

/** Starts the load generator as a process of its own. */
export const startGenerator = (): Generator => {
  const child = fork(fileURLToPath(new URL('./generator.ts', import.meta.url)))
  const ask = (order: ToGenerator, { onBegan, onAnswered }: Listener = {}): Promise<LoadResult> =>
    new Promise((resolve, reject) => {
      const finish = (settle: () => void) => {
        child.off('message', hear)
        child.off('exit', leave)
        settle()
      }
      const leave = () => finish(() => reject(new Error('the load generator ended too early')))
      const hear = (message: FromGenerator) => {
        if (message.kind === 'began') onBegan?.()
        else if (message.kind === 'answered') onAnswered?.(message.answered)
        else if (message.kind === 'failed') finish(() => reject(new Error(message.message)))
        else finish(() => resolve(message.result))
      }
      child.on('message', hear)
      child.once('exit', leave)
      child.send(order)
    })
  return {
    pid: child.pid ?? 0,
    know: (given) => ask({ kind: 'know', ...given }),
    load: (plan, listener) => ask({ kind: 'load', plan }, listener),
    stop: () => {
      if (child.connected) child.disconnect()
    },
  }
}
