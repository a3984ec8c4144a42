// `npm run weir -- …`: the operator's command. Standard output is the command's own; scripts read it.
import { fileURLToPath } from 'node:url'
import { runNode } from './run-node.mjs'
import { setUp } from './setup.mjs'

await setUp({ output: process.stderr })
runNode([fileURLToPath(new URL('../../dist/services/operator/main.js', import.meta.url)), ...process.argv.slice(2)])
