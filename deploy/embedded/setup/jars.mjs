import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetUpFailure } from './failure.mjs'
import { partsDir, pom } from './paths.mjs'
import { runTool } from './tool.mjs'

const stamp = join(partsDir, 'jars-of-pom')
// A Maven whose set-up was killed may still write: nobody else's folder has this name.
const incoming = join(partsDir, `incoming-${process.pid}`)

/** Kafka into .parts/kafka and the schema registry into .parts/registry, as pom.xml names them. */
export const jars = {
  title: 'Kafka and schema registry',
  isNeeded: () => !existsSync(stamp) || readFileSync(stamp, 'utf8') !== pomHash(),
  run: async (detail) => {
    rmSync(stamp, { force: true })
    for (const name of readdirSync(partsDir).filter((each) => each.startsWith('incoming'))) {
      rmSync(join(partsDir, name), { recursive: true, force: true })
    }
    mkdirSync(incoming)
    const hash = pomHash()
    let files = 0
    await runTool({
      name: 'maven',
      command: 'mvn',
      args: [
        '-B',
        '-f',
        pom,
        `-Dparts=${incoming}`,
        'dependency:copy-dependencies@kafka',
        'dependency:unpack@registry',
      ],
      nextStep:
        'Check the connection to the Maven repository (or ~/.m2/settings.xml), then run the same command again.',
      onLine: (line) => {
        const name = /Downloaded from .*\/(\S+)/.exec(line)?.[1]
        if (name) detail(`${++files} files fetched, ${name}`)
      },
    })
    refuseIncomplete()
    for (const part of ['kafka', 'registry']) {
      rmSync(join(partsDir, part), { recursive: true, force: true })
      renameSync(join(incoming, part), join(partsDir, part))
    }
    rmSync(incoming, { recursive: true, force: true })
    // Last: whatever was interrupted above is done again.
    writeFileSync(stamp, hash)
  },
}

const pomHash = () => createHash('sha256').update(readFileSync(pom)).digest('hex')

function refuseIncomplete() {
  const has = (part, pattern) => readdirSync(join(incoming, part)).some((name) => pattern.test(name))
  if (!has('kafka', /^kafka_.*\.jar$/) || !has('registry', /-runner\.jar$/)) {
    throw new SetUpFailure(`Maven ended well but ${incoming} lacks Kafka or the registry. Run the same command again.`)
  }
}
