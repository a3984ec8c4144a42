import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { partsDir, root, runTool, SetUpFailure } from './tool.mjs'

const OLDEST_JAVA = 17
// Older ones refuse the dependency plugin that pom.xml names (3.5.4, 3.3.9 and 3.2.5 were tried).
const OLDEST_MAVEN = [3, 6, 3]
const pom = join(root, 'deploy/embedded/setup/pom.xml')
const stamp = join(partsDir, 'jars-of-pom')
// Named after this process: the Maven of a set-up that was killed may still write to its own folder.
const incoming = join(partsDir, `incoming-${process.pid}`)

/** Java runs Kafka and the schema registry. */
export const java = {
  title: 'Java',
  seconds: 30,
  // Asking Java for its version takes 0.2 s. Once the jars are there the version was good, and it is enough that Java exists.
  isNeeded: () => (jars.isNeeded() ? javaVersion() < OLDEST_JAVA : findJava() === undefined),
  run: async (detail) => {
    detail('installing with apt-get')
    await aptInstall(...debianJava)
    if (javaVersion() < OLDEST_JAVA) throw new SetUpFailure(toolProblems({ java: javaVersion() })[0])
  },
}

/** Maven fetches the jars of Kafka and the registry, and is needed for nothing else. */
export const maven = {
  title: 'Maven',
  seconds: 30,
  isNeeded: () => jars.isNeeded() && !isOnPath('mvn'),
  run: async (detail) => {
    detail('installing with apt-get')
    await aptInstall('maven')
    const [problem] = toolProblems({ java: javaVersion(), maven: mavenVersion() })
    if (problem) throw new SetUpFailure(problem)
  },
}

/** Fetches what pom.xml names: Kafka into .parts/kafka and the schema registry into .parts/registry. */
export const jars = {
  title: 'Kafka and schema registry',
  seconds: 60,
  writes: [partsDir, join(partsDir, 'kafka'), join(partsDir, 'registry')],
  isNeeded: () => !existsSync(stamp) || readFileSync(stamp, 'utf8') !== pomHash(),
  run: async (detail) => {
    rmSync(stamp, { force: true })
    for (const name of readdirSync(partsDir).filter((each) => each.startsWith('incoming'))) {
      rmSync(join(partsDir, name), { recursive: true, force: true })
    }
    mkdirSync(incoming)
    const hash = pomHash()
    const readLine = createFetchReader(hash)
    await runTool({
      name: 'maven',
      command: 'mvn',
      // Not in batch mode (-B), in which Maven is silent for the minutes that its largest file takes.
      args: ['-f', pom, `-Dparts=${incoming}`, 'dependency:copy-dependencies@kafka', 'dependency:unpack@registry'],
      nextStep:
        'Check the connection to the Maven repository (or ~/.m2/settings.xml), then run the same command again.',
      onLine: (line) => detail(readLine(line)),
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

/**
 * What Maven fetches for this pom.xml where it has nothing yet, the plugin included. To measure anew after a change: run Maven with
 * an empty -Dmaven.repo.local, count its lines "Downloaded", and add up the files that it then has.
 */
export const measured = {
  pom: 'ea16b99dbd63effd69ecaceb40b4ba6595f48262fe1341150c6a74cb278426d2',
  files: 337,
  megabytes: 205,
}

/** Reads Maven's output line by line, and says in words how much it has fetched so far. */
export function createFetchReader(hash) {
  const isMeasured = hash === measured.pom
  let files = 0
  let done = 0
  let underWay = 0
  return (line) => {
    const [, size] = /Downloaded from .* \((\S+ \w*B) at /.exec(line) ?? []
    if (size) {
      files++
      done += megabytesIn(size)
    }
    // "Progress (2): 1.3/9.8 MB | 328/683 kB": the files that are being fetched.
    const [, list] = /^Progress \(\d+\): (.*)/.exec(line) ?? []
    if (list) underWay = list.split('|').reduce((sum, each) => sum + megabytesIn(each.trim()), 0)
    else if (size) underWay = 0
    const megabytes = Math.round(done + underWay)
    // At most: what Maven has from other projects is not fetched again.
    return isMeasured
      ? `${megabytes} of ${measured.megabytes} MB, ${files} of ${measured.files} files at most`
      : `${megabytes} MB, ${files} files`
  }
}

const megabytesIn = (size) => {
  const [, amount, unit] = /^([\d.]+)(?:\/[\d.]+)? (\w*B)$/.exec(size) ?? []
  return Number(amount ?? 0) * ({ B: 1e-6, kB: 1e-3, MB: 1, GB: 1e3 }[unit] ?? 0)
}

/** What is missing or too old, each with the next step. Where root on Debian, what is missing is installed above. */
export function findToolProblems() {
  const mayBeInstalled = process.getuid?.() === 0 && existsSync('/etc/debian_version')
  if (!jars.isNeeded()) return mayBeInstalled || !java.isNeeded() ? [] : toolProblems({ java: 0 })
  const found = { java: javaVersion(), maven: isOnPath('mvn') ? mavenVersion() : undefined }
  if (!mayBeInstalled) return toolProblems({ ...found, maven: found.maven ?? 'missing' })
  return toolProblems({ java: OLDEST_JAVA, maven: found.java < OLDEST_JAVA ? undefined : found.maven })
}

/**
 * @param {{ java: number, maven?: string }} found the version of Java, 0 for none; of Maven, `missing` for none, empty for one that
 *   does not run, and undefined for one that need not be judged
 * @param {{ platform: string, osRelease: string, hasPackage: (name: string) => boolean }} system
 */
export function toolProblems({ java, maven }, system = thisSystem()) {
  // Asked only when something is wrong: apt-cache takes half a second.
  const install = (tool) => installCommands(system)[tool]
  const own = 'or set KAFKA_BROKERS and SCHEMA_REGISTRY_URL to use your own Kafka and registry.'
  const lines = []
  if (java < OLDEST_JAVA) {
    const what = java === 0 ? 'Java is missing' : `Java ${java} is too old`
    lines.push(`${what}: Weir needs Java ${OLDEST_JAVA} or later. ${install('java')}, ${own}`)
  }
  if (maven === 'missing') {
    lines.push(`Maven is missing: it fetches Kafka and the schema registry. ${install('maven')}, ${own}`)
  } else if (maven === '' && java >= OLDEST_JAVA) {
    // Without Java no Maven runs, and the line above says that.
    lines.push(`Maven does not run: mvn --version says why. See to that (is JAVA_HOME right?), ${own}`)
  } else if (maven && isOlder(maven, OLDEST_MAVEN)) {
    const newer = 'Put a newer one from https://maven.apache.org/download.cgi before it on the PATH'
    lines.push(`Maven ${maven} is too old: Weir needs Maven ${OLDEST_MAVEN.join('.')} or later. ${newer}, ${own}`)
  }
  return lines
}

function isOlder(version, oldest) {
  const numbers = version.split('.').map(Number)
  const at = oldest.findIndex((each, index) => numbers[index] !== each)
  return at !== -1 && !(numbers[at] > oldest[at])
}

function installCommands({ platform, osRelease, hasPackage }) {
  if (platform === 'darwin')
    return {
      java: 'Install it (brew install openjdk && export JAVA_HOME="$(brew --prefix openjdk)")',
      maven: 'Install it (brew install maven)',
    }
  if (/^ID(_LIKE)?=.*(debian|ubuntu)/m.test(osRelease)) {
    const known = debianJava.find(hasPackage)
    // A fresh container knows no package until it has fetched the list of them. The default Java of these is 11.
    const isOld = /^VERSION_ID="?(11|20\.04|22\.04)\b/m.test(osRelease)
    const aptGet = `${known ? '' : 'sudo apt-get update && '}sudo apt-get install -y`
    return {
      java: `Install it (${aptGet} ${known ?? (isOld ? 'openjdk-17-jre-headless' : 'default-jre-headless')})`,
      maven: `Install it (${aptGet} maven)`,
    }
  }
  if (/^ID(_LIKE)?=.*(fedora|rhel)/m.test(osRelease)) {
    const name = /^ID=fedora/m.test(osRelease) ? 'java-latest-openjdk-headless' : 'java-21-openjdk-headless'
    return { java: `Install it (sudo dnf install -y ${name})`, maven: 'Install it (sudo dnf install -y maven)' }
  }
  return { java: 'Install it from https://adoptium.net', maven: 'Install it from https://maven.apache.org' }
}

// Newer Debians have no Java 17; the default of older ones is too old.
const debianJava = ['openjdk-17', 'openjdk-21', 'openjdk-25', 'default'].map((name) => `${name}-jre-headless`)

const thisSystem = () => ({
  platform: process.platform,
  osRelease: existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '',
  hasPackage: (name) => spawnSync('apt-cache', ['show', '--no-all-versions', name]).status === 0,
})

function javaVersion() {
  const { stderr } = spawnSync(findJava() ?? 'java', ['-version'], { encoding: 'utf8' })
  return Number(/version "(\d+)/.exec(stderr ?? '')?.[1] ?? 0)
}

// Empty where mvn does not run.
function mavenVersion() {
  const { stdout } = spawnSync('mvn', ['-B', '--version'], { encoding: 'utf8' })
  return /Apache Maven (\d+(\.\d+)*)/.exec(stdout ?? '')?.[1] ?? ''
}

export function findJava() {
  const home = process.env.JAVA_HOME ? [join(process.env.JAVA_HOME, 'bin')] : []
  return findIn(home, 'java') ?? findIn(path(), 'java')
}

const path = () => (process.env.PATH ?? '').split(delimiter)
const findIn = (folders, name) => folders.map((folder) => join(folder, name)).find((file) => existsSync(file))
const isOnPath = (name) => findIn(path(), name) !== undefined

/** Installs the first of these packages that this Debian has. */
export async function aptInstall(...choices) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const aptGet = (...args) =>
    // An apt-get that is killed while it installs leaves packages half installed, for a person to mend.
    runTool({
      name: 'apt-get',
      command: 'apt-get',
      args: ['-y', ...args],
      env,
      nextStep: 'See to that and run the same command again.',
      mayBeKilled: false,
    })
  await aptGet('update')
  const known = choices.find(thisSystem().hasPackage)
  await aptGet('install', '--no-install-recommends', known ?? choices[0])
}

export const pomHash = () => createHash('sha256').update(readFileSync(pom)).digest('hex')

function refuseIncomplete() {
  const has = (part, pattern) => readdirSync(join(incoming, part)).some((name) => pattern.test(name))
  if (!has('kafka', /^kafka_.*\.jar$/) || !has('registry', /-runner\.jar$/)) {
    throw new SetUpFailure(`Maven ended well but ${incoming} lacks Kafka or the registry. Run the same command again.`)
  }
}
