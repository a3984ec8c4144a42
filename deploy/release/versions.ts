import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '#platform/process/package-root.js'

/** Where the version of Weir stands; each pattern has the version between what is before and what is behind it. */
const places: readonly { file: string; pattern: RegExp }[] = [
  ...['package.json', ...['mcp', 'typescript', 'uploader'].map((client) => `clients/${client}/package.json`)].map(
    (file) => ({
      file,
      pattern: /^( {2}"version": ")([^"]+)(")/gm,
    }),
  ),
  // Of the root, and of the packages that are made here.
  { file: 'package-lock.json', pattern: /^( {2}"version": ")([^"]+)(")/gm },
  {
    file: 'package-lock.json',
    pattern: /("(?:|clients\/\w+)": \{\n {6}"name": "[\w-]+",\n {6}"version": ")([^"]+)(")/g,
  },
  { file: 'clients/python/pyproject.toml', pattern: /^(version = ")([^"]+)(")/gm },
  { file: 'docker-compose.yml', pattern: /(image: \$\{WEIR_IMAGE:-weir:)([^}]+)(\})/g },
  { file: 'deploy/settings-page.ts', pattern: /(WEIR_IMAGE \| compose \| weir:)(\S+)( \|)/g },
  { file: 'deploy/Dockerfile', pattern: /(image\.version=)(\S+)( )/g },
  { file: 'schemas/derive/openapi.ts', pattern: /(weirVersion = ')([^']+)(')/g },
  { file: 'deploy/helm/weir/Chart.yaml', pattern: /^(version: "?)([\w.-]+)("?)$/gm },
  { file: 'deploy/helm/weir/Chart.yaml', pattern: /^(appVersion: "?)([\w.-]+)("?)$/gm },
]

/** Every place with the versions that it names; none where it names none. */
export const versionsNamed = (root = packageRoot): { file: string; versions: string[] }[] =>
  places
    .filter(({ file }) => existsSync(join(root, file)))
    .map(({ file, pattern }) => {
      const text = readFileSync(join(root, file), 'utf8')
      return { file, versions: [...text.matchAll(pattern)].map(([, , version = '']) => version) }
    })

/** A sentence for each place that names another version than package.json. */
export const versionProblems = (root = packageRoot): string[] => {
  const named = versionsNamed(root)
  const [version] = named[0]?.versions ?? []
  return named.flatMap(({ file, versions }) => {
    if (versions.length === 0) return [`${file} names no version where one is looked for`]
    const others = versions.filter((each) => each !== version)
    return others.length === 0 ? [] : [`${file} says ${others[0]}, package.json ${version}`]
  })
}

export const setVersion = (version: string, root = packageRoot): void => {
  for (const { file, pattern } of places.filter((place) => existsSync(join(root, place.file)))) {
    const path = join(root, file)
    writeFileSync(path, readFileSync(path, 'utf8').replace(pattern, `$1${version}$3`))
  }
}
