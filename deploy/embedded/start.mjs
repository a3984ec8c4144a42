// `npm start`: the whole of Weir on this machine.
import { setUp } from './setup/setup.mjs'
import { endOnSignal } from './setup/tool.mjs'

// Until the launcher has something to stop. Taken before the set-up takes them for itself: Node forgets a signal that arrives
// while it is busy, if the last listener is taken away before it gets to it.
const leaveSignals = endOnSignal(process.stdout)
await setUp()
const { launch } = await import('../../dist/deploy/embedded/launcher/launch.js')
await launch({ leaveSignals })
