import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { partsDir, root, runTool, SetUpFailure } from './tool.mjs'

const OLDEST_JAVA = 17
const pom = join(root, 'deploy/embedded/setup/pom.xml')
const stamp = join(partsDir, 'jars-of-pom')
// Named after this process: the Maven of a set-up that was killed may still write to its own folder.
const incoming = join(partsDir, `incoming-${process.pid}`)

/** Java runs Kafka and the schema registry. */
export const java = {
  title: 'Java',
  // Asking Java for its version takes 0.2 s. Once the jars are there the version was good, and it is enough that Java exists.
  isNeeded: () => (jars.isNeeded() ? javaVersion() < OLDEST_JAVA : findJava() === undefined),
  run: async (detail) => {
    detail('installing with apt-get')
    await aptInstall('openjdk-17-jre-headless', 'default-jre-headless')
    if (javaVersion() < OLDEST_JAVA) throw new SetUpFailure(advice)
  },
}

/** Maven fetches the jars of Kafka and the registry, and is needed for nothing else. */
export const maven = {
  title: 'Maven',
  isNeeded: () => jars.isNeeded() && spawnSync('mvn', ['-v']).status !== 0,
  run: async (detail) => {
    detail('installing with apt-get')
    await aptInstall('maven')
  },
}

/** Fetches what pom.xml names: Kafka into .parts/kafka and the schema registry into .parts/registry. */
export const jars = {
  title: 'Kafka and schema registry',
  writes: [partsDir, join(partsDir, 'kafka'), join(partsDir, 'registry')],
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
    // Written last, so that an interrupted step is done again.
    writeFileSync(stamp, hash)
  },
}

const advice = `Weir needs Java ${OLDEST_JAVA} or newer and Maven for its embedded Kafka and schema registry. Install them
(Debian, Ubuntu: sudo apt-get install openjdk-17-jre-headless maven; macOS: brew install openjdk maven)
and run the same command again, or set KAFKA_BROKERS and SCHEMA_REGISTRY_URL to use your own.`

function javaVersion() {
  const { stderr } = spawnSync(findJava() ?? 'java', ['-version'], { encoding: 'utf8' })
  return Number(/version "(\d+)/.exec(stderr ?? '')?.[1] ?? 0)
}

function findJava() {
  const home = process.env.JAVA_HOME ? [join(process.env.JAVA_HOME, 'bin')] : []
  const folders = [...home, ...(process.env.PATH ?? '').split(delimiter)]
  return folders.map((folder) => join(folder, 'java')).find((file) => existsSync(file))
}

// Installs the first of these packages that this Debian has (newer ones have no Java 17). Only as root on Debian: elsewhere
// the
// user decides how to install.
async function aptInstall(...choices) {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) throw new SetUpFailure(advice)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const aptGet = (...args) =>
    // An apt-get that is killed while it installs leaves packages half installed, for a person to mend.
    runTool({ name: 'apt-get', command: 'apt-get', args: ['-y', ...args], env, nextStep: advice, mayBeKilled: false })
  await aptGet('update')
  const known = choices.find((name) => spawnSync('apt-cache', ['show', '--no-all-versions', name]).status === 0)
  await aptGet('install', '--no-install-recommends', known ?? choices[0])
}

const pomHash = () => createHash('sha256').update(readFileSync(pom)).digest('hex')

function refuseIncomplete() {
  const has = (part, pattern) => readdirSync(join(incoming, part)).some((name) => pattern.test(name))
  if (!has('kafka', /^kafka_.*\.jar$/) || !has('registry', /-runner\.jar$/)) {
    throw new SetUpFailure(`Maven ended well but ${incoming} lacks Kafka or the registry. Run the same command again.`)
  }
}
