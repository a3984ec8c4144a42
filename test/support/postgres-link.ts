import { openLinkTo } from './link.js'

export type PostgresLink = Awaited<ReturnType<typeof openPostgresLink>>

/** A link to Postgres that also counts what it is asked. */
export const openPostgresLink = async (postgresUrl: string) => {
  const asked = new Map<string, number>()
  const link = await openLinkTo(postgresUrl, {
    onSent: (bytes) => {
      // A prepared statement is named each time that it is run.
      for (const [, name = ''] of bytes.toString('latin1').matchAll(/([a-z-]{4,})\0/g))
        asked.set(name, (asked.get(name) ?? 0) + 1)
    },
  })
  return {
    ...link,
    /** How often a statement of this name was sent. */
    timesAsked: (name: string) => asked.get(name) ?? 0,
  }
}
