import { fill } from './fill.js'
import { keys, startPretendEdge } from './pretend-edge.js'

// To look at the console without a system: npx tsx test/console/pretend/main.ts
const edge = await startPretendEdge({ port: 8089 })
fill(edge)
process.stdout.write(`${edge.url}/console/ with the key ${keys.demo}, or ${keys.operator}\n`)
