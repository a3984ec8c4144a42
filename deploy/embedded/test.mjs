// `npm test`: what every change has to pass, on real parts. `npm run test:deep`: the journeys in their full sizes, and the rare
// worlds. Arguments go to vitest: npm test -- test/journeys/kills
import { fileURLToPath } from 'node:url'
import { makeRunFolder } from '../../test/support/run-folder.mjs'
import { runNode } from './run-node.mjs'
import { setUp } from './setup/setup.mjs'

// How long the partitions of a killed service wait for its successor: tests kill some fifty, and would wait 10 s each time.
const sessionTimeout = '3000'

const given = process.argv.slice(2)
const usual = process.env.WEIR_TEST_DEPTH === 'deep' ? ['unit', 'int', 'e2e', 'deep'] : ['unit', 'int', 'e2e']
const projects = given.some((word) => word.startsWith('--project')) ? [] : usual.map((name) => `--project=${name}`)

await setUp({ withBrowser: true })
const { folder, remove } = makeRunFolder()
runNode(
  [
    fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url)),
    'run',
    ...projects,
    ...process.argv.slice(2),
  ],
  { KAFKA_SESSION_TIMEOUT_MS: sessionTimeout, ...process.env, TMPDIR: folder },
  remove,
)
