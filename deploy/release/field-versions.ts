import type { Catalogue } from '#schemas/catalogue.js'
import { type FieldVersions, fieldVersionsOf, type ReleasedFields } from '#schemas/derive/type-reference/since.js'
import { changelogPart } from './changelog.js'
import { type Contracts, releasedContracts, releasedVersions } from './contracts.js'

export const fieldVersionsPath = 'schemas/derive/type-reference/field-versions.ts'

/** Since which version each field is there, from the contracts of released versions. Those that the changelog has no part of are yet to be released. */
export const releasedFieldVersions = (
  catalogue: Catalogue,
  changelog: string,
  contractsOf: (version: string) => Pick<Contracts, 'openapi'> = releasedContracts,
  versions = releasedVersions(),
): FieldVersions =>
  fieldVersionsOf(
    versions
      .filter((version) => changelogPart(changelog, version) !== undefined)
      .map((version) => ({ version, fields: fieldsIn(contractsOf(version).openapi, catalogue) })),
  )

/** The fields that an upload could have; the event of a type has the same. */
const fieldsIn = ({ components }: Contracts['openapi'], catalogue: Catalogue): ReleasedFields['fields'] => {
  const { schemas = {} } = (components ?? {}) as { schemas?: Record<string, { properties?: object }> }
  const types = [...catalogue.all.keys()].filter((type) => schemas[type])
  return Object.fromEntries(types.map((type) => [type, Object.keys(schemas[type]?.properties ?? {})]))
}

/** The file from which the edge knows them: what runs has no contracts beside it. */
export const fieldVersionsFile = ({ first, of }: FieldVersions): string => {
  const name = (text: string) => (/^\w+$/.test(text) ? text : `'${text}'`)
  const fields = (versions: Readonly<Record<string, string>>) =>
    Object.entries(versions).map(([field, version]) => `      ${name(field)}: '${version}',\n`)
  const types = Object.entries(of).map(
    ([type, versions]) => `    ${name(type)}: {\n${fields(versions).join('')}    },\n`,
  )
  return `// Made by npm run publish-schemas from schemas/released: the contracts of the versions that CHANGELOG.md says are released.
import type { FieldVersions } from './since.js'

export const fieldVersions: FieldVersions = {
  first: ${first === null ? 'null' : `'${first}'`},
  of: ${types.length === 0 ? '{}' : `{\n${types.join('')}  }`},
}
`
}
