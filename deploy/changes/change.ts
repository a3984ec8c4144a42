/** The text of each published file, by its path in the repository. */
export type PublishedFiles = ReadonlyMap<string, string>

/** One change, as one audience sees it, in one sentence. What breaks waits for a major version (docs/compatibility.md). */
export type PublishedChange = { breaking: boolean; about: string }

export const breaks = (about: string): PublishedChange => ({ breaking: true, about })
export const adds = (about: string): PublishedChange => ({ breaking: false, about })
