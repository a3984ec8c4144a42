#!/usr/bin/env node
// `npm run weir -- …`, or `weir …` after `npm link`: all commands. Standard output is theirs alone, since scripts read it.
import { fileURLToPath } from 'node:url'
import { runNode } from './run-node.mjs'
import { localSystem, runUploader, uploaderCommands } from './run-uploader.mjs'
import { setUp } from './setup/setup.mjs'

const built = (path) => new URL(`../../dist/${path}`, import.meta.url)
const words = process.argv.slice(2)

if (uploaderCommands.includes(words[0])) await runUploader(words, 'weir')
else if (words[0] === 'mcp') await runMcp()
else if (['backup', 'restore'].includes(words[0])) await runBackup()
else await runOperator()

// What an assistant starts: it needs a server and a key, and none of the parts; where none is named, the system that runs in this clone.
async function runMcp() {
  await setUp({ output: process.stderr, withParts: false })
  runNode([fileURLToPath(built('clients/mcp/main.js')), ...words.slice(1)], {
    ...process.env,
    ...(await localSystem()),
  })
}

// They act on the data folder of this clone, whether or not a system runs there.
async function runBackup() {
  await setUp({ output: process.stderr })
  const { backupOptions, calledAs } = await import(built('deploy/embedded/launcher/operator-call.js').href)
  await refuseTakenByNpm(backupOptions)
  const { INIT_CWD, npm_lifecycle_event } = process.env
  // npm runs scripts in the clone; the folder that was named is where the shell is.
  if (npm_lifecycle_event === 'weir' && INIT_CWD) process.chdir(INIT_CWD)
  runNode([fileURLToPath(built('deploy/embedded/backup/main.js')), ...words], {
    ...process.env,
    CALLED_AS: calledAs(process.env, process.argv[1] ?? ''),
  })
}

async function refuseTakenByNpm(options) {
  const { takenByNpm } = await import(built('deploy/embedded/launcher/operator-call.js').href)
  const taken = takenByNpm(process.env, words, options)
  if (taken === undefined) return
  process.stderr.write(`weir: ${taken}\n`)
  process.exit(1)
}

async function runOperator() {
  // Samples of topics are made up: no system and none of its parts is asked.
  const needsParts = words[0] !== 'topics'
  await setUp({ output: process.stderr, withParts: needsParts })
  const { operatorSystem } = await import(built('deploy/embedded/launcher/running-system.js').href)
  const { withoutAddressFiles } = await import(built('deploy/embedded/launcher/services.js').href)
  const { calledAs, operatorOptions } = await import(built('deploy/embedded/launcher/operator-call.js').href)
  await refuseTakenByNpm(operatorOptions)
  const { variables, elsewhere } = findSystem(operatorSystem)
  const asksForHelp =
    words.length === 0 || words.includes('--help') || words.includes('-h') || words.includes('--version')
  if (elsewhere && needsParts && !asksForHelp) process.stderr.write(`weir: ${elsewhere}\n`)
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
