// `npm run weir -- …`: the operator's command. Standard output is the command's own; scripts read it.
import { fileURLToPath } from 'node:url'
import { runNode } from './run-node.mjs'
import { setUp } from './setup/setup.mjs'

const built = (path) => new URL(`../../dist/${path}`, import.meta.url)
const words = process.argv.slice(2)

await setUp({ output: process.stderr })
const { operatorSystem } = await import(built('deploy/embedded/launcher/running-system.js').href)
const { variables, elsewhere } = findSystem()
const asksForHelp = words.length === 0 || words.includes('--help') || words.includes('-h')
if (elsewhere && !asksForHelp) process.stderr.write(`weir: ${elsewhere}\n`)
runNode([fileURLToPath(built('services/operator/main.js')), ...words], { ...process.env, ...variables })

function findSystem() {
  try {
    return operatorSystem(process.env)
  } catch (error) {
    if (error.name !== 'ConfigProblems') throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
