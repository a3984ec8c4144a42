import { setTimeout as wait } from 'node:timers/promises'
import { execa } from 'execa'
import { eventually } from '../../support/eventually.js'
import { killMany, planKilling } from '../faults/killing.js'
import type { Random } from '../random.js'
import { planClient } from '../workload/plan.js'
import { planEveryType, planImports } from '../workload/plan-varied.js'
import { type Scenario, untilSteps } from './run.js'
import type { Session } from './session.js'

const within = 180_000

/**
 * The lanes are changed while clients use the system and processes are killed, those of the parts too; the command itself as well, and it is
 * given again until it is done.
 */
export const lanesScenario = (kills = 4): Scenario => ({
  name: 'lanes',
  plans: [planClient, planClient, planEveryType, planImports],
  disturb: async ({ session, random, workload }) => {
    const { stack, say } = session
    await untilSteps(workload, 3)
    const now = stack.lanesHad.at(-1) ?? 1
    const lanes = random.pick([1, 2, 3, 4].filter((each) => each !== now))
    // What was cut in between may be cut by either.
    stack.lanesHad.push(lanes)
    say(`from ${now} lanes to ${lanes}`)
    const killing = killMany(stack, planKilling(random, true), kills, (target) => say(`${target} is killed`))
    const changing = changeLanes(session, random, { lanes, partitions: random.int(4, 8) })
    await Promise.all([killing, changing])
    await untilSteps(workload, workload.steps() + 3)
    return { findings: [], mayOutliveSession: false }
  },
})

const changeLanes = async (
  { stack, say }: Session,
  random: Random,
  { lanes, partitions }: { lanes: number; partitions: number },
): Promise<void> => {
  const words = ['lanes', 'change', '--lanes', String(lanes), '--partitions', String(partitions)]
  let isKilled = random.chance(0.5)
  await eventually(async () => {
    const command = execa(process.execPath, ['dist/services/operator/main.js', ...words], {
      env: stack.addresses,
      reject: false,
      forceKillAfterDelay: false,
    })
    if (isKilled) {
      isKilled = false
      await wait(random.int(500, 8_000))
      say(`the command is killed: ${command.kill('SIGKILL')}`)
    }
    const { exitCode, stderr } = await command
    const isDone = exitCode === 0 || stderr.includes('already: nothing was changed')
    say(`weir lanes change: ${exitCode} ${stderr.split('\n').at(-1)}`)
    if (!isDone) throw new Error(stderr)
  }, within)
}
