// `npm run weir -- …`: the operator's command. Standard output is the command's own; scripts read it.
import { fileURLToPath } from 'node:url'
import { runNode } from './run-node.mjs'
import { setUp } from './setup/setup.mjs'

const built = (path) => new URL(`../../dist/${path}`, import.meta.url)

await setUp({ output: process.stderr })
const { operatorAddresses } = await import(built('deploy/embedded/launcher/running-system.js').href)
runNode([fileURLToPath(built('services/operator/main.js')), ...process.argv.slice(2)], {
  ...process.env,
  ...operatorAddresses(process.env),
})
