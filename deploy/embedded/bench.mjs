// `npm run bench -- …`: how fast it is, on this machine.
import { fileURLToPath } from 'node:url'
import { runNode } from './run-node.mjs'
import { setUp } from './setup/setup.mjs'

await setUp()
const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url))
runNode([
  path('node_modules/tsx/dist/cli.mjs'),
  '--conditions=source',
  path('test/bench/main.ts'),
  ...process.argv.slice(2),
])
