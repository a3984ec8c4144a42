// `npm test`: every test, on real parts. Arguments go to vitest: npm test -- test/journeys/kills
import { fileURLToPath } from 'node:url'
import { makeRunFolder } from '../../test/support/run-folder.mjs'
import { runNode } from './run-node.mjs'
import { setUp } from './setup/setup.mjs'

// A Kafka that runs for minutes is not worth the optimising compiler: without it, starting one takes 6 s of a core, not 11.
const lightJava = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC'

await setUp({ withBrowser: true })
const { folder, remove } = makeRunFolder()
runNode(
  [fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url)), 'run', ...process.argv.slice(2)],
  { JAVA_TOOL_OPTIONS: lightJava, ...process.env, TMPDIR: folder },
  remove,
)
