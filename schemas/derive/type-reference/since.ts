/** The fields of every type, as a released version had them. */
export type ReleasedFields = { version: string; fields: Readonly<Record<string, readonly string[]>> }

/** The first released version (null: there is none), and for each field of the last one since which version it is there. */
export type FieldVersions = { first: string | null; of: Readonly<Record<string, Readonly<Record<string, string>>>> }

/** `releases` are in their order. A field that was gone for a while is there since it came back: copies from before may not know it. */
export const fieldVersionsOf = (releases: readonly ReleasedFields[]): FieldVersions => {
  let of: FieldVersions['of'] = {}
  for (const { version, fields } of releases) {
    const before = of
    const sinceIn = (type: string, names: readonly string[]) =>
      Object.fromEntries(names.map((name) => [name, before[type]?.[name] ?? version]))
    of = Object.fromEntries(Object.entries(fields).map(([type, names]) => [type, sinceIn(type, names)]))
  }
  return { first: releases[0]?.version ?? null, of }
}

/**
 * Since which version a field is there, where that tells something: null for one that is in no release yet, undefined for one that every
 * release has had, and for all of them before the first release.
 */
export const sinceOf = ({ first, of }: FieldVersions, type: string, field: string): string | null | undefined => {
  if (first === null) return undefined
  const version = of[type]?.[field] ?? null
  return version === first ? undefined : version
}
