// `npm run faults -- …`: what happens to Weir when everything goes wrong, from a seed.
import { fileURLToPath } from 'node:url'
import { runNode } from './run-node.mjs'
import { setUp } from './setup/setup.mjs'

await setUp({ output: process.stderr })
const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url))
runNode([
  path('node_modules/tsx/dist/cli.mjs'),
  '--conditions=source',
  path('test/faults/main.ts'),
  ...process.argv.slice(2),
])
