// `npm start`: the whole of Weir on this machine.
import { setUp } from './setup.mjs'

await setUp()
const { launch } = await import('../../dist/deploy/embedded/launch.js')
await launch()
