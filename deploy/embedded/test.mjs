// `npm test`: every test, on real parts. Arguments go to vitest: npm test -- --project unit
import { fileURLToPath } from 'node:url'
import { runNode } from './run-node.mjs'
import { setUp } from './setup/setup.mjs'

await setUp()
runNode([
  fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url)),
  'run',
  ...process.argv.slice(2),
])
