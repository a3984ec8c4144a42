import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIP } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { packageRoot } from '#platform/process/package-root.js'
import { changeLogins } from './analysts/change-logins.js'
import type { Logins } from './analysts/logins.js'
import { sendAnswer, sendError } from './answer.js'
import { refusal, toClickHouseError } from './errors.js'
import { identify, type Passwords, readForm, readRequest, type User } from './request.js'
import type { createRunner } from './runner.js'

type Dependencies = {
  run: ReturnType<typeof createRunner>
  version: string
  passwords: Passwords
  logins: Logins
  /** The name or address that it listens on. */
  host: string
  log: Logger
}

/** ClickHouse's HTTP interface; it has no port until `listen`. */
export const createClickHouseServer = ({ run, version, passwords, logins, host, log }: Dependencies): Server => {
  const ownNames = new Set(['localhost', hostname().toLowerCase(), host.toLowerCase()])

  const query = async (asked: IncomingMessage, response: ServerResponse, parameters: URLSearchParams) => {
    let user: User | undefined
    try {
      user = identify(asked.headers, parameters, passwords, logins)
      const body = await readForm(asked, parameters)
      const request = readRequest(asked, parameters, user, goneSignal(response))
      response.setHeader('X-ClickHouse-Query-Id', request.queryId)
      response.setHeader('X-ClickHouse-Timezone', 'UTC')
      await sendAnswer(asked, response, request, await run(request, body))
    } catch (thrown) {
      const error = toClickHouseError(thrown, user?.name)
      const queryId = response.getHeader('X-ClickHouse-Query-Id')
      log.debug({ code: error.code, type: error.type, queryId }, 'query failed')
      if (response.headersSent) response.destroy()
      else sendError(asked, response, error, version)
    }
  }

  /** How "weir analysts" makes, lists and drops the analysts of this engine: only Weir's own user may. */
  const analysts = async (asked: IncomingMessage, response: ServerResponse, parameters: URLSearchParams) => {
    try {
      if (!identify(asked.headers, parameters, passwords, logins).mayWrite)
        throw refusal(497, 'ACCESS_DENIED', 'Not enough privileges: only the user weir manages analysts')
      const answer = await changeLogins(logins, asked.method ?? '', parameters)
      response.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer.body))
    } catch (thrown) {
      sendError(asked, response, toClickHouseError(thrown), version)
    }
  }

  const route = (asked: IncomingMessage, response: ServerResponse) => {
    if (!isOwnHost(asked.headers.host, ownNames)) return sayForeignHost(asked, response)
    response.setHeader('X-ClickHouse-Server-Display-Name', hostname())
    const { pathname, searchParams } = new URL(asked.url ?? '/', 'http://clickhouse')
    const isReading = asked.method === 'GET' || asked.method === 'HEAD'
    if (isReading && (pathname === '/ping' || pathname === '/replicas_status')) return sayOk(response)
    if (isReading && pathname === '/play') return showPlay(response)
    if (pathname === '/analysts') return analysts(asked, response, searchParams)
    if (pathname !== '/' || !METHODS.has(asked.method ?? '')) return sayUnknown(asked, response)
    if (asked.method === 'OPTIONS') return response.writeHead(204).end()
    if (isReading && !searchParams.has('query')) return sayOk(response)
    return query(asked, response, searchParams)
  }

  // A GET carries its statement in the address, which may be as long as ClickHouse's http_max_uri_size allows.
  const server = createServer({ maxHeaderSize: 1_048_576 + 65_536, keepAliveTimeout: 30_000 }, route)
  // A body may take as long as its sender needs.
  server.requestTimeout = 0
  return server
}

/** Opens the port and returns its number, which the system chooses for port 0; explains a busy port in words. */
export const listen = (server: Server, port: number, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const busy = `port ${port} on ${host} is in use: stop what listens there or set CLICKHOUSE_PORT`
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new Error(busy) : error),
    )
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })

/** Takes no more requests, waits this long for those under way, then cancels them; false when even that did not end them. */
export const stopServing = (server: Server, patienceMs: number, cancelAll: () => Promise<unknown>): Promise<boolean> =>
  new Promise((resolve) => {
    server.close(() => resolve(true))
    server.closeIdleConnections()
    setTimeout(() => {
      setTimeout(() => resolve(false), 1_000)
      cancelAll().catch(() => resolve(false))
    }, patienceMs)
  })

const goneSignal = (response: ServerResponse): AbortSignal => {
  const gone = new AbortController()
  response.once('close', () => response.writableFinished || gone.abort())
  return gone.signal
}

/**
 * A page of a stranger can have its own name resolve to 127.0.0.1 (DNS rebinding), and would then read what this server answers. Its
 * browser still sends that name. An address is no name, and a request without a host comes from no browser.
 */
const isOwnHost = (host: string | undefined, ownNames: ReadonlySet<string>): boolean => {
  if (host === undefined) return true
  if (!URL.canParse(`http://${host}`)) return false
  const name = new URL(`http://${host}`).hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(name) > 0 || ownNames.has(name)
}

const sayForeignHost = (asked: IncomingMessage, response: ServerResponse) =>
  response
    .writeHead(403, { 'Content-Type': 'text/plain; charset=UTF-8', Connection: 'close' })
    .end(
      `This ClickHouse does not answer to the host ${asked.headers.host}, so that no web page can read it under a name of its own.\n` +
        `Ask for it by its address (http://127.0.0.1:${asked.socket.localPort}), as localhost, or as ${hostname()}.\n`,
    )

const METHODS = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])

const sayOk = (response: ServerResponse) => response.setHeader('Content-Type', 'text/html; charset=UTF-8').end('Ok.\n')

// The page runs its own script and no other, and reaches no other address.
const play = readFileSync(join(packageRoot, 'deploy/embedded/clickhouse/play.html'))
const script = /<script>([\s\S]*)<\/script>/.exec(play.toString())?.[1] ?? ''
const PLAY_HEADERS = {
  'Content-Type': 'text/html; charset=UTF-8',
  'Content-Security-Policy':
    `default-src 'none'; script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'; ` +
    "style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
}

const showPlay = (response: ServerResponse) => response.writeHead(200, PLAY_HEADERS).end(play)

const sayUnknown = (asked: IncomingMessage, response: ServerResponse) =>
  response
    .writeHead(404, { 'Content-Type': 'text/plain; charset=UTF-8' })
    .end(
      `There is no handle ${asked.url}\n` +
        'Use / or /ping for health checks.\n' +
        'Or /replicas_status for more sophisticated health checks.\n' +
        'Or /play, a page for queries in the browser.\n' +
        'Send queries from your program with POST method or GET /?query=...\n',
    )
