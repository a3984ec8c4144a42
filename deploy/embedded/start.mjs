// `npm start`: the whole of Weir on this machine.
import { findStartProblems } from './launcher/data-folder.mjs'
import { setUp } from './setup/setup.mjs'
import { endOnSignal, root } from './setup/tool.mjs'

// Until the launcher has something to stop. Taken before the set-up takes them for itself: Node forgets a signal that arrives
// while it is busy, if the last listener is taken away before it gets to it.
const leaveSignals = endOnSignal(process.stdout)
await setUp({ findProblems: () => findStartProblems(process.env, root) })
const { launch } = await import('../../dist/deploy/embedded/launcher/launch.js')
await launch({ leaveSignals })
