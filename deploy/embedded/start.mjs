// `npm start`: the whole of Weir on this machine.
import { setUp } from './setup/setup.mjs'

await setUp()
const { launch } = await import('../../dist/deploy/embedded/launcher/launch.js')
await launch()
