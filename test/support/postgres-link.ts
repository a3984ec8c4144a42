import { openLink } from './link.js'

export type PostgresLink = Awaited<ReturnType<typeof openPostgresLink>>

/** A link to Postgres that also counts what it is asked. */
export const openPostgresLink = async (postgresUrl: string) => {
  const target = new URL(postgresUrl)
  const asked = new Map<string, number>()
  const link = await openLink(
    { host: target.hostname, port: Number(target.port || 5432) },
    {
      onSent: (bytes) => {
        // A prepared statement is named each time that it is run.
        for (const [, name = ''] of bytes.toString('latin1').matchAll(/([a-z-]{4,})\0/g))
          asked.set(name, (asked.get(name) ?? 0) + 1)
      },
    },
  )
  const url = new URL(target)
  url.host = `127.0.0.1:${link.port}`
  return {
    ...link,
    url: url.href,
    /** How often a statement of this name was sent. */
    timesAsked: (name: string) => asked.get(name) ?? 0,
  }
}
