// `npm run bench -- …` and `npm run faults -- …`: runs a program of test/ from its TypeScript sources. The first argument is
// the program's path from the root of the project. The set-up tells its progress on standard error: standard output is the
// program's own, and scripts read it.
import { fileURLToPath } from 'node:url'
import { runNode } from './run-node.mjs'
import { setUp } from './setup/setup.mjs'

const path = (relative) => fileURLToPath(new URL(`../../${relative}`, import.meta.url))
const [program, ...args] = process.argv.slice(2)

await setUp({ output: process.stderr })
runNode([path('node_modules/tsx/dist/cli.mjs'), path(program), ...args])
