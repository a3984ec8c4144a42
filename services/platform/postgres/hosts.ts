import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { reasonOf } from '../health/health.js'

// A Postgres with standbys has several addresses, of which one takes writes. node-postgres knows only one.

/** The parts of an address that are its hosts, and what stands before and behind them. */
const split = (url: string): { before: string; hosts: string[]; behind: string } => {
  const [, scheme = '', authority = '', behind = ''] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/is.exec(url) ?? ['', url]
  const at = authority.lastIndexOf('@') + 1
  return { before: scheme + authority.slice(0, at), hosts: authority.slice(at).split(','), behind }
}

/** An address of a single host for each host of this one. */
export const addressesOf = (url: string): string[] => {
  const { before, hosts, behind } = split(url)
  return hosts.map((host) => before + host + behind)
}

/** The address with what is changed in that of its first host; with all its hosts. */
export const changeAddress = (url: string, change: (address: URL) => void): string => {
  const { hosts } = split(url)
  const address = new URL(addressesOf(url)[0] ?? '')
  change(address)
  const changed = split(address.href)
  return hosts.length === 1 ? address.href : changed.before + hosts.join(',') + changed.behind
}

export const isAddress = (url: string): boolean => addressesOf(url).every((address) => URL.canParse(address))

const attributes = 'target_session_attrs'

/** What is wrong with an address, in words for the person who wrote it. */
export const addressProblem = (url: string): string | undefined => {
  const [first = '', ...others] = addressesOf(url)
  if (!isAddress(url)) return others.length > 0 ? 'has several hosts and is not a URL' : undefined
  const wanted = new URL(first).searchParams.get(attributes)
  if (wanted !== null && wanted !== 'read-write' && wanted !== 'primary')
    return `says ${attributes}=${wanted}, but Weir writes: say read-write, or leave it out`
  return undefined
}

export type Hosts = {
  /** The address of the host that takes writes; rejects where none does, and says what each of them answers. */
  find: () => Promise<string>
  /** It no longer does, or may not: the next `find` asks all hosts again. */
  forget: () => void
}

// Less than a pool waits for a connection.
const answerWithin = 4_000
// For the hosts that are slower than the first one that takes writes: one of them may be the newer primary. Longer at the beginning, when
// nothing is known that would show an old one.
const othersWithin = 300
const othersAtFirstWithin = 2_000
// After this long all are asked again, beside the connection that is being made: an old primary may live on beside its successor.
const trueFor = 5_000

/** Undefined for an address of one host that need not be asked whether it takes writes. */
export const createHosts = (url: string): Hosts | undefined => {
  const addresses = addressesOf(url)
  if (addresses.length === 1 && !url.includes(`${attributes}=`)) return undefined
  let known: { address: Promise<string>; at: number } | undefined
  let newest = 0
  const look = async (): Promise<string> => {
    const { address, timeline } = await findPrimary(addresses, newest)
    newest = Math.max(newest, timeline)
    return address
  }
  const ask = () => ({ address: look(), at: performance.now() })
  return {
    find: () => {
      if (!known) {
        const asked = ask()
        known = asked
        asked.address.catch(() => {
          if (known === asked) known = undefined
        })
        return asked.address
      }
      const current = known
      if (performance.now() - current.at > trueFor) {
        current.at = performance.now()
        const asked = ask()
        asked.address.then(
          () => {
            if (known === current) known = asked
          },
          // Where none takes writes, the connection that is being made fails, and all are asked again.
          () => {},
        )
      }
      return current.address
    },
    forget: () => {
      known = undefined
    },
  }
}

/** The address to give to a library that opens its connection itself. */
export const primaryOf = async (url: string): Promise<string> => (await createHosts(url)?.find()) ?? url

type Taking = { address: string; timeline: number }
type State = Taking | { address: string; error: Error }

/**
 * Asks all hosts. Where two take writes, one of them is an old primary that lives on: a promotion begins a new timeline, so
 * the higher one counts. Where only one answers so far that is older than what was seen before, the others get their time.
 */
export const findPrimary = async (
  addresses: readonly string[],
  newestSeen: number,
  askHost: (address: string) => Promise<State> = ask,
): Promise<Taking> => {
  const states: State[] = []
  const asking = addresses.map(async (address) => {
    const state = await askHost(address)
    states.push(state)
    if ('error' in state) throw state.error
  })
  const all = Promise.allSettled(asking)
  const soon = Promise.any(asking).then(() => wait(newestSeen === 0 ? othersAtFirstWithin : othersWithin))
  await Promise.race([all, soon.catch(() => {})])
  const best = () =>
    states.filter((state): state is Taking => 'timeline' in state).sort((a, b) => b.timeline - a.timeline)[0]
  if ((best()?.timeline ?? 0) < newestSeen) await all
  const found = best()
  if (found) return found
  const errors = states.flatMap((state) => ('error' in state ? [state] : []))
  const answers = errors.map(({ address, error }) => `${new URL(address).host}: ${reasonOf(error)}`)
  // With the first one's code, by which callers know a wrong password, say.
  const { code } = (errors[0]?.error ?? {}) as { code?: string }
  throw Object.assign(new Error(`no host of Postgres takes writes (${answers.join('; ')})`), { code })
}

const ask = async (address: string): Promise<State> => {
  const client = new pg.Client({
    connectionString: address,
    connectionTimeoutMillis: answerWithin,
    query_timeout: answerWithin,
    application_name: 'which host takes writes',
  })
  // Without a listener, a connection that is cut ends the process.
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ timeline: string | null }>(whichTimeline)
    const timeline = rows[0]?.timeline
    return timeline ? { address, timeline: Number.parseInt(timeline, 16) } : { address, error: new Error('read-only') }
  } catch (error) {
    return { address, error: error as Error }
  } finally {
    client.end().catch(() => {})
  }
}

// The name of a WAL file begins with its timeline. A standby has no such file, and raises an error if it is asked for one.
const whichTimeline = `select case when current_setting('transaction_read_only') = 'off'
  then left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) end as timeline`

/** Postgres's answer to a write where nothing can be written: on a standby, say. */
const readOnly = '25006'

// A statement goes out at once, and not only when the one before it is answered: what does not depend on each other takes one round trip.
// Postgres runs them one after another all the same. The types do not know it yet.
const pipelined = { pipeline: true }

/** Statements that are made in one turn go out in one write: each would be a system call, and may wake Postgres. */
const writeTogether = (client: pg.Client): void => {
  const query = client.query.bind(client) as (...given: unknown[]) => unknown
  let isHeld = false
  const holdForThisTurn = (): void => {
    if (isHeld) return
    const { stream } = client.connection
    isHeld = true
    stream.cork()
    process.nextTick(() => {
      isHeld = false
      stream.uncork()
    })
  }
  client.query = ((...given: unknown[]) => {
    holdForThisTurn()
    return query(...given)
  }) as typeof client.query
}

/**
 * A client that connects to the host that takes writes, and hangs up where its server no longer does, so that the next
 * connection looks for the one that does. Also where an address has one host: the name may have moved to another machine.
 */
export const createClient = (config: pg.ClientConfig, hosts: Hosts | undefined): pg.Client => {
  const [connectionString = ''] = addressesOf(config.connectionString ?? '')
  const client = new pg.Client({ ...config, connectionString, ...pipelined })
  writeTogether(client)
  const open = client.connect.bind(client)
  const connect = async (): Promise<pg.Client> => {
    if (hosts) {
      const { host, port } = new pg.Client(await hosts.find())
      Object.assign(client, { host, port })
    }
    await open().catch((error: unknown) => {
      hosts?.forget()
      throw error
    })
    client.connection.on('errorMessage', ({ code }: { code?: string }) => {
      if (code === readOnly) client.connection.stream.destroy()
    })
    client.on('error', () => hosts?.forget())
    return client
  }
  client.connect = ((callback?: (error: Error | null, connected?: pg.Client) => void) =>
    callback ? void connect().then((connected) => callback(null, connected), callback) : connect()) as typeof open
  return client
}
