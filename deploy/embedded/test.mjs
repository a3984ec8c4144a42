// `npm test`: every test but those of a full disk, on real parts. Arguments go to vitest: npm test -- --project unit
import { fileURLToPath } from 'node:url'
import { runNode } from './run-node.mjs'
import { setUp } from './setup.mjs'

const given = process.argv.slice(2)
const projects = given.includes('--project') ? [] : ['unit', 'int', 'e2e'].flatMap((name) => ['--project', name])

await setUp()
runNode([fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url)), 'run', ...projects, ...given])
