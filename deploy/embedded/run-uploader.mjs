// `npm run weir -- upload …` and `weir-upload …`: the uploader's commands. They need a server and a key, and none of the parts;
// where neither is named, they are those of the system that runs in this clone.
import { fileURLToPath } from 'node:url'
import { runNode } from './run-node.mjs'
import { setUp } from './setup/setup.mjs'

const built = (path) => new URL(`../../dist/${path}`, import.meta.url)

// By itself Node lets garbage pile up to what it thinks a machine can spare: 250 MB for a file of any length, where 130 do.
export const uploaderFlags = ['--max-old-space-size=256']

/** The commands that are the uploader's and not the operator's. */
export const uploaderCommands = ['upload', 'check', 'sample']

export async function runUploader(words, name) {
  await setUp({ output: process.stderr, withParts: false })
  const { calledAs, takenByNpm, uploaderOptions } = await import(
    built('deploy/embedded/launcher/operator-call.js').href
  )
  const taken = takenByNpm(process.env, words, uploaderOptions)
  if (taken) {
    process.stderr.write(`weir: ${taken}\n`)
    process.exit(2)
  }
  const { INIT_CWD, npm_lifecycle_event } = process.env
  // npm runs scripts in the clone; the files that were named are where the shell is.
  if (npm_lifecycle_event === 'weir' && INIT_CWD) process.chdir(INIT_CWD)
  runNode([...uploaderFlags, fileURLToPath(built('clients/uploader/main.js')), ...words], {
    ...process.env,
    ...(await localSystem()),
    CALLED_AS: name === 'weir' ? calledAs(process.env, process.argv[1] ?? '') : 'npx weir-upload',
  })
}

/** The address and the key of the system that runs in this clone, as variables. */
export async function localSystem() {
  const { localEdge } = await import(built('deploy/embedded/launcher/running-system.js').href)
  const found = localEdge(process.env)
  return found ? { WEIR_LOCAL_URL: found.url, WEIR_LOCAL_KEY_FILE: found.keyFile } : {}
}
