// Makes a release: everything that people install, from the commit that a tag names. It publishes nothing.
//   npm run release -- prepare 0.2.0     the version in every place, the changelog's part, the contracts of the release; then commit, tag
//   npm run release -- --dry-run         the release as it would be, from the clone as it is
//   npm run release                      the release, into release/<version>, or where --out says
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readBuild } from '#platform/health/build.js'
import { packageRoot } from '#platform/process/package-root.js'
import { catalogue } from '#schemas/catalogue.js'
import { makeChart, makeChecksums, makeImage, makePackages, makeSbom, type Release } from './artifacts.js'
import { changelogPart, releaseChangelog } from './changelog.js'
import { contractsFile, contractsText, contractsToday, releasedVersions } from './contracts.js'
import { fieldVersionsFile, fieldVersionsPath, releasedFieldVersions } from './field-versions.js'
import { refusals } from './refusals.js'
import { setVersion, versionProblems } from './versions.js'

const changelogFile = join(packageRoot, 'CHANGELOG.md')
const git = (...words: string[]): string => execFileSync('git', words, { cwd: packageRoot, encoding: 'utf8' }).trim()
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const refuse = (problems: string[]): never => {
  for (const problem of problems) process.stderr.write(`release: ${problem}\n`)
  process.exit(1)
}

const prepare = (version = ''): void => {
  if (!/^\d+\.\d+\.\d+$/.test(version)) refuse(['say which version: npm run release -- prepare 0.2.0'])
  setVersion(version)
  const changelog = readFileSync(changelogFile, 'utf8')
  if (changelogPart(changelog, version) === undefined)
    writeFileSync(changelogFile, releaseChangelog(changelog, version, new Date().toISOString().slice(0, 10)))
  // Sources name the version too: only a process that begins now derives what the new one promises.
  const [, program = ''] = process.argv
  execFileSync(process.execPath, [...process.execArgv, program, 'note-contracts', version], { stdio: 'inherit' })
  say(
    `prepared ${version}: look at git diff, run npm run publish-schemas and npm run check, commit, and tag it v${version}`,
  )
}

const noteContracts = (version = ''): void => {
  writeFileSync(contractsFile(version), contractsText(contractsToday()))
  // The document that publish-schemas writes says it too: it has to be there before.
  const versions = releasedFieldVersions(catalogue, readFileSync(changelogFile, 'utf8'))
  writeFileSync(join(packageRoot, fieldVersionsPath), fieldVersionsFile(versions))
}

const make = async (isDryRun: boolean, out: string | undefined): Promise<void> => {
  const { version, commit } = readBuild(packageRoot)
  const changelog = readFileSync(changelogFile, 'utf8')
  const part = changelogPart(changelog, version) ?? (isDryRun ? changelogPart(changelog, 'Unreleased') : undefined)
  const problems = refusals({
    version,
    changed: git('status', '--porcelain')
      .split('\n')
      .filter(Boolean)
      .map((line) => line.trim().replace(/^\S+ +/, '')),
    tags: git('tag', '--points-at', 'HEAD').split('\n').filter(Boolean),
    versionProblems: versionProblems(),
    changelogPart: part,
    hasContracts: releasedVersions().includes(version),
    isDryRun,
  })
  if (problems.length > 0) return refuse(problems)

  const folder = resolve(out ?? join(packageRoot, 'release', version))
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const release: Release = { version, commit, folder, say }
  say(`Weir ${version} from ${commit}, into ${relative(process.cwd(), folder)}${isDryRun ? ' (a dry run)' : ''}:`)
  await makePackages(release)
  makeChart(release)
  makeSbom(release)
  makeImage(release)
  writeFileSync(join(folder, 'CHANGES.md'), `${part}\n`)
  say('CHANGES.md')
  await makeChecksums(folder)
  say('SHA256SUMS')
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean' }, out: { type: 'string' } },
})
const [command, version] = positionals
if (command === 'prepare') prepare(version)
else if (command === 'note-contracts') noteContracts(version)
else if (command === undefined) await make(values['dry-run'] ?? false, values.out)
else refuse([`there is no ${command}: npm run release, with -- --dry-run, or with -- prepare 0.2.0`])
