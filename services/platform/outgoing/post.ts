import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { reasonOf } from '../health/health.js'
import { type FoundAddress, hostOf, type Reach, type ResolveName, resolveName } from './addresses.js'

/** What came of an attempt to send something: an answer, or why there was none. */
export type Posted = { ms: number } & (
  | { status: number; answer: string; retryAfter: number | null }
  | { status: null; problem: string }
)

/** Sends a body to a URL that somebody else chose. Never rejects. */
export type Post = (url: string, headers: Record<string, string>, body: string, signal?: AbortSignal) => Promise<Posted>

export const attemptWithin = 15_000
const mostAnswered = 2048
const mostRedirects = 3

/**
 * Each host is resolved here, each of its addresses is checked, and the connection goes to one of those: a name that is resolved a second
 * time, to another address, leads nowhere. Every attempt has a connection of its own, so that none is reused that was checked for others.
 */
export const createPost = (reach: Reach, resolve: ResolveName = resolveName, within = attemptWithin): Post => {
  const addressesOf = async (url: URL): Promise<FoundAddress[]> => {
    const host = hostOf(url)
    const usable = (await resolve(host)).filter(({ address }) => reach.mayConnect(address))
    if (usable.length === 0) throw new Error(`${host} is not a public address`)
    const safe = url.protocol === 'https:' ? usable : usable.filter(({ address }) => reach.isAllowed(address))
    if (safe.length === 0) throw new Error('plain http leads only to networks that the operator allows: use https')
    return safe
  }

  const send = async (
    url: URL,
    headers: Record<string, string>,
    body: string,
    signal: AbortSignal,
  ): Promise<Answer> => {
    const addresses = await orAborted(signal, addressesOf(url))
    const lookup: LookupFunction = (_, options, callback) => {
      const [first] = addresses as [FoundAddress]
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    }
    const request = url.protocol === 'https:' ? requestHttps : requestHttp
    return new Promise<Answer>((done, fail) => {
      const sent = request(url, {
        ...{ method: 'POST', agent: false, lookup, signal },
        headers: { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' },
      })
      sent.on('error', fail)
      sent.on('response', (response) => {
        const { statusCode: status = 0, headers: given } = response
        const chunks: Buffer[] = []
        let size = 0
        const end = () => {
          const answer = Buffer.concat(chunks).subarray(0, mostAnswered).toString().replaceAll('\0', '')
          done({ status, answer, location: given.location, retryAfter: secondsOf(given['retry-after']) })
          response.destroy()
        }
        response.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          size += chunk.length
          if (size >= mostAnswered) end()
        })
        response.on('end', end)
        // The status is there, and says all: an answer that breaks off, or never ends, changes nothing.
        response.on('error', end)
        setTimeout(end, 1_000).unref()
      })
      sent.end(body)
    })
  }

  return async (to, headers, body, stopped) => {
    const began = performance.now()
    const ms = () => Math.round(performance.now() - began)
    const late = AbortSignal.timeout(within)
    const signal = stopped ? AbortSignal.any([late, stopped]) : late
    try {
      let url = new URL(to)
      for (let redirects = 0; ; redirects++) {
        const { location, ...answer } = await send(url, headers, body, signal)
        if (![301, 302, 307, 308].includes(answer.status) || location === undefined) return { ...answer, ms: ms() }
        if (redirects === mostRedirects) throw new Error(`more than ${mostRedirects} redirects`)
        const next = new URL(location, url)
        if (next.protocol !== url.protocol) throw new Error(`a redirect from ${url.protocol} to ${next.protocol}`)
        url = next
      }
    } catch (error) {
      const problem = late.aborted ? `no answer within ${within / 1000} s` : reasonOf(error)
      return { status: null, problem: problem.slice(0, 500), ms: ms() }
    }
  }
}

type Answer = { status: number; answer: string; location: string | undefined; retryAfter: number | null }

const secondsOf = (given: string | undefined): number | null => (given && /^\d+$/.test(given) ? Number(given) : null)

const orAborted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    work.then(resolve, reject)
  })
