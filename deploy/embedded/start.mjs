// `npm start`: the whole of Weir on this machine.
import { findStartProblems } from './launcher/data-folder.mjs'
import { startHelp } from './launcher/start-settings.mjs'
import { setUp } from './setup/setup.mjs'
import { endOnSignal, root } from './setup/tool.mjs'

const given = process.argv.slice(2)
if (given.length > 0) {
  const isAsked = given.some((each) => each === '--help' || each === '-h')
  process[isAsked ? 'stdout' : 'stderr'].write(
    isAsked ? startHelp : `npm start takes no options: ${given.join(' ')}\n${startHelp}`,
  )
  process.exit(isAsked ? 0 : 2)
}

// Until the launcher has something to stop. Taken before the set-up takes them for itself: Node forgets a signal that arrives
// while it is busy, if the last listener is taken away before it gets to it.
const leaveSignals = endOnSignal(process.stdout)
await setUp({ findProblems: () => findStartProblems(process.env, root) })
const { launch } = await import('../../dist/deploy/embedded/launcher/launch.js')
await launch({ leaveSignals })
