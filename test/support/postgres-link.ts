import { openLinkTo } from './link.js'

export type PostgresLink = Awaited<ReturnType<typeof openPostgresLink>>

/** A link to Postgres that also counts what it is asked. */
export const openPostgresLink = async (postgresUrl: string) => {
  const asked = new Map<string, number>()
  const link = await openLinkTo(postgresUrl, {
    onSent: (bytes) => {
      // A Bind message (B, its length, an empty portal) names a prepared statement each time that it is run. Parse names it
      // too, once for each connection, and how many connections the pool opens depends on how busy the machine is.
      for (const [, name = ''] of bytes.toString('latin1').matchAll(/B.{4}\0([a-z-]{4,})\0/gs))
        asked.set(name, (asked.get(name) ?? 0) + 1)
    },
  })
  return {
    ...link,
    /** How often the prepared statement of this name was run. */
    timesAsked: (name: string) => asked.get(name) ?? 0,
  }
}
