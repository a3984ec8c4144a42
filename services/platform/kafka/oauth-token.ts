import { rootCertificates } from 'node:tls'
import { reasonOf } from '../health/health.js'
import { AccessRefused, type TokenEndpoint } from '../process/access.js'
import { type TlsWords, tlsProblem } from '../process/tls-problem.js'
import { request } from '../request.js'

type Token = { value: string; renewAt: number; endsAt: number }

const shareOfLife = 0.8
// A broker may end a session with its token, and kafkajs logs in anew 10 s before that. With a token that has hardly more time left
// it would do so again at once, which brokers refuse: so a token that is handed out lives for longer.
const leastLeft = 30_000

/** One token serves every connection until four fifths of its life, or 30 s before its end; then a new one is asked for. */
export const createTokenSource = (endpoint: TokenEndpoint, now = () => performance.now()): (() => Promise<string>) => {
  let token: Token | undefined
  let asking: Promise<Token> | undefined

  const renew = (): Promise<Token> => {
    asking ??= askFor(endpoint, now).finally(() => {
      asking = undefined
    })
    return asking
  }

  return async () => {
    if (token && now() < token.renewAt) return token.value
    try {
      token = await renew()
    } catch (error) {
      if (!token || now() >= token.endsAt) throw error
    }
    return token.value
  }
}

const askFor = async (endpoint: TokenEndpoint, now: () => number): Promise<Token> => {
  const { url, clientId, clientSecret, scope, ca } = endpoint
  const askedAt = now()
  const asked = request(url, {
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      // RFC 6749, 2.3.1: both are form-encoded before they are joined.
      authorization: `Basic ${Buffer.from(`${encode(clientId)}:${encode(clientSecret)}`).toString('base64')}`,
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', ...(scope && { scope }) }).toString(),
    // Beside the public ones: the authority that was named may be the brokers' alone.
    ...(ca && { ca: [...rootCertificates, ca].join('\n') }),
  })
  const answer = await asked.catch((error: unknown) => {
    const problem = tlsProblem(error, wordsFor(url))
    if (problem) throw new AccessRefused(problem)
    throw new Error(
      `the token endpoint ${url} does not answer (${reasonOf(error)}): KAFKA_OAUTH_TOKEN_URL says where it is`,
    )
  })
  if (answer.status === 400 || answer.status === 401 || answer.status === 403) {
    const said = (await answer.text()).slice(0, 200)
    throw new AccessRefused(
      `the token endpoint ${url} gives no token (${answer.status}, ${said}): check KAFKA_OAUTH_CLIENT_ID, KAFKA_OAUTH_CLIENT_SECRET and KAFKA_OAUTH_SCOPE`,
    )
  }
  if (!answer.ok) throw new Error(`the token endpoint ${url} answers ${answer.status}: try it again later`)
  const { access_token: value, expires_in: seconds } = await readToken(url, answer)
  // Without a word about its life, a token is used once.
  const life = typeof seconds === 'number' ? seconds * 1000 : 0
  return { value, renewAt: askedAt + Math.min(life * shareOfLife, life - leastLeft), endsAt: askedAt + life }
}

const readToken = async (url: string, answer: Response): Promise<{ access_token: string; expires_in?: unknown }> => {
  const body = (await answer.json().catch(() => undefined)) as { access_token?: unknown } | undefined
  if (typeof body?.access_token !== 'string')
    throw new AccessRefused(`the token endpoint ${url} answers without an access_token: check KAFKA_OAUTH_TOKEN_URL`)
  return body as { access_token: string }
}

const encode = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1)

const wordsFor = (url: string): TlsWords => ({
  part: 'the token endpoint',
  ca: 'KAFKA_CA_FILE',
  on: url.startsWith('https:') ? undefined : 'write https:// in KAFKA_OAUTH_TOKEN_URL',
  off: 'write http:// in KAFKA_OAUTH_TOKEN_URL',
})
