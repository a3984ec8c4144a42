import pg from 'pg'

const WITHIN_MS = 2_000

/** Whether the database weir takes a query. */
export const answersPostgres = async (port: number): Promise<boolean> => {
  const client = new pg.Client({
    host: '127.0.0.1',
    port,
    user: 'weir',
    password: 'weir',
    database: 'weir',
    connectionTimeoutMillis: WITHIN_MS,
    query_timeout: WITHIN_MS,
  })
  // A connection cut later than the failure below reports would otherwise end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    // Refused, starting up, cut or late: all of them mean not yet.
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}
