/** Why no release is made of the clone as it is, in a sentence each with what to do. */
export const refusals = (clone: {
  version: string
  /** The files that differ from HEAD. */
  changed: readonly string[]
  /** The tags at HEAD. */
  tags: readonly string[]
  versionProblems: readonly string[]
  changelogPart: string | undefined
  hasContracts: boolean
  isDryRun: boolean
}): string[] => {
  const { version, changed, tags, isDryRun } = clone
  const of = (isWrong: boolean, problem: string): string[] => (isWrong ? [problem] : [])
  return [
    ...clone.versionProblems.map((problem) => `${problem}: npm run release -- prepare ${version} writes it everywhere`),
    ...of(
      clone.changelogPart === undefined,
      isDryRun
        ? `CHANGELOG.md says nothing about ${version}, nor under "Unreleased": write what changed`
        : `CHANGELOG.md has no part "## [${version}]": npm run release -- prepare ${version} makes it of what is under "Unreleased"`,
    ),
    ...of(
      !clone.hasContracts,
      `schemas/released has no ${version}.json, with which later releases are compared: npm run release -- prepare ${version} writes it`,
    ),
    ...of(
      !isDryRun && changed.length > 0,
      `the clone has changes that no commit has: ${changed.join(', ')}; commit or remove them`,
    ),
    ...of(
      !isDryRun && !tags.includes(`v${version}`),
      `the commit that is checked out has no tag v${version}: git tag -s v${version} -m 'Weir ${version}', or check the tagged one out`,
    ),
  ]
}
