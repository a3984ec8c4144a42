import { type Erasure, findErasure } from '#ledger/erasures/erasures.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { interruptible } from '../command/operator-error.js'
import type { Session } from '../command/session.js'
import { until } from '../command/until.js'
import { erasureAsJson, toErasureText } from './text.js'

const lookEvery = 500
const slowToBegin = 20_000

/** Says what was asked for; with `wait` shows its steps until it has ended. */
export const follow = async (
  pool: Pool,
  erasure: Erasure,
  options: { wait?: boolean; json?: boolean },
  session: Session,
): Promise<void> => {
  if (!options.wait) {
    session.print(options.json ? JSON.stringify(erasureAsJson(erasure)) : erasure.erasureId)
    return session.note(`Asked for. "weir erasures show ${erasure.erasureId}" says how far it is.`)
  }
  session.note(`erasure ${erasure.erasureId}`)
  await interruptible(stopped(erasure), async (signal) => {
    try {
      const ended = await untilEnded(pool, erasure, session, signal)
      session.print(options.json ? JSON.stringify(erasureAsJson(ended)) : toErasureText(ended, new Date()))
      if (ended.status !== 'done') session.endWith(1)
    } catch (error) {
      if (!signal.aborted) throw error
      session.note(`weir: ${stopped(erasure)}`)
      session.endWith(130)
    }
  })
}

const stopped = ({ erasureId }: Erasure): string =>
  `nobody waits any more, and it goes on: "weir erasures show ${erasureId}" says how far it is`

/** Says each step once, and each problem. */
const untilEnded = async (pool: Pool, asked: Erasure, { note }: Session, signal: AbortSignal): Promise<Erasure> => {
  let now = asked
  const said = new Set<string>()
  const say = (text: string): void => {
    if (!said.has(text)) note(`  ${text}`)
    said.add(text)
  }
  const begun = Date.now()
  const look = async (): Promise<boolean> => {
    now = (await findErasure(pool, asked.erasureId)) ?? now
    if (now.step !== 'asked') say(now.step)
    else if (Date.now() - begun > slowToBegin)
      say('nothing has begun yet: the delivery service does it, "weir status" says whether it runs')
    if (now.problem !== null) say(`problem: ${now.problem}`)
    return now.status !== 'running'
  }
  await until(look, { every: lookEvery, signal })
  return now
}
