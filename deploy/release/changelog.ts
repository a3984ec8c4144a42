/** What the changelog says of a version, without its heading; undefined where it has no such part. */
export const changelogPart = (changelog: string, version: string): string | undefined => {
  const parts = changelog.split(/^(?=## )/m)
  const part = parts.find((each) => each.startsWith(`## [${version}]`))
  const [, ...lines] = part?.split('\n') ?? []
  return lines.join('\n').trim() || undefined
}

/** The changelog with what is under "Unreleased" under a version and its day, and nothing under "Unreleased". */
export const releaseChangelog = (changelog: string, version: string, day: string): string =>
  changelog.replace(/^## \[Unreleased\]\n/m, `## [Unreleased]\n\n## [${version}] - ${day}\n`)
