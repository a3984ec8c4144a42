#!/usr/bin/env node
// `npm run weir -- …`, or `weir …` after `npm link`: all commands. Standard output is theirs alone, since scripts read it.
import { fileURLToPath } from 'node:url'
import { runNode } from './run-node.mjs'
import { runUploader, uploaderCommands } from './run-uploader.mjs'
import { setUp } from './setup/setup.mjs'

const built = (path) => new URL(`../../dist/${path}`, import.meta.url)
const words = process.argv.slice(2)

if (uploaderCommands.includes(words[0])) await runUploader(words, 'weir')
else await runOperator()

async function runOperator() {
  await setUp({ output: process.stderr })
  const { operatorSystem } = await import(built('deploy/embedded/launcher/running-system.js').href)
  const { withoutAddressFiles } = await import(built('deploy/embedded/launcher/services.js').href)
  const { calledAs, takenByNpm } = await import(built('deploy/embedded/launcher/operator-call.js').href)
  const taken = takenByNpm(process.env, words)
  if (taken) {
    process.stderr.write(`weir: ${taken}\n`)
    process.exit(1)
  }
  const { variables, elsewhere } = findSystem(operatorSystem)
  const asksForHelp = words.length === 0 || words.includes('--help') || words.includes('-h')
  if (elsewhere && !asksForHelp) process.stderr.write(`weir: ${elsewhere}\n`)
  runNode([fileURLToPath(built('services/operator/main.js')), ...words], {
    ...process.env,
    ...variables,
    ...withoutAddressFiles,
    CALLED_AS: calledAs(process.env, process.argv[1] ?? ''),
  })
}

function findSystem(operatorSystem) {
  try {
    return operatorSystem(process.env)
  } catch (error) {
    if (error.name !== 'ConfigProblems') throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
