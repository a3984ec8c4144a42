import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { SetUpFailure } from './failure.mjs'
import { jars } from './jars.mjs'
import { runTool } from './tool.mjs'

const OLDEST_JAVA = 17

/** Java runs Kafka and the schema registry. */
export const java = {
  title: 'Java',
  // Asking Java for its version takes 0.2 s; once it has served for the jars, that it is there will do.
  isNeeded: () => (jars.isNeeded() ? javaVersion() < OLDEST_JAVA : findJava() === undefined),
  run: async (detail) => {
    detail('installing with apt-get')
    await aptInstall('openjdk-17-jre-headless', 'default-jre-headless')
    if (javaVersion() < OLDEST_JAVA) throw new SetUpFailure(advice)
  },
}

/** Maven fetches their jars, and is needed only for that. */
export const maven = {
  title: 'Maven',
  isNeeded: () => jars.isNeeded() && spawnSync('mvn', ['-v']).status !== 0,
  run: async (detail) => {
    detail('installing with apt-get')
    await aptInstall('maven')
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

// Only where that is surely wanted: root on a Debian. Newer Debians have no Java 17, so there is a second choice.
async function aptInstall(...choices) {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) throw new SetUpFailure(advice)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const aptGet = (...args) =>
    runTool({ name: 'apt-get', command: 'apt-get', args: ['-y', ...args], env, nextStep: advice })
  await aptGet('update')
  const known = choices.find((name) => spawnSync('apt-cache', ['show', '--no-all-versions', name]).status === 0)
  await aptGet('install', '--no-install-recommends', known ?? choices[0])
}
