import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { AnswerTo, Me, TypeReference } from '../../typescript/src/endpoints.js'
import { createWeir, type Weir } from '../../typescript/src/index.js'
import type { ConsoleUploads } from '../uploads/uploads.js'
import { type Ask, AskError, createAsk, messageOf } from './ask.js'
import type { EdgeConnection } from './connection.js'

/** What every page works with: who is signed in, the catalogue, and the ways to ask. */
export type ConsoleSession = {
  key: string
  me: Me
  types: TypeReference[]
  ask: Ask
  weir: Weir
  uploads: ConsoleUploads
  connection: EdgeConnection
  /** The organisation that an operator looks at; that of the key for everybody else. */
  org: string
  setOrg: (org: string) => void
  signOut: (message?: string) => void
}

export const SessionContext = createContext<ConsoleSession | undefined>(undefined)

export const useSession = (): ConsoleSession => {
  const session = useContext(SessionContext)
  if (!session) throw new Error('a page was shown before anybody signed in')
  return session
}

/** Finds out whether a key is valid, and what it may see. */
export const signIn = async (key: string): Promise<{ me: Me; types: TypeReference[] }> => {
  const ask = createAsk({ key, onLost: () => {}, onKeyEnded: () => {} })
  const [me, { types }] = await Promise.all([
    ask<AnswerTo<'GET /v1/me'>>('/v1/me'),
    ask<AnswerTo<'GET /v1/types'>>('/v1/types'),
  ])
  return { me, types }
}

export const createSession = (given: Omit<ConsoleSession, 'ask'>): ConsoleSession => {
  const { key, me, org, connection, signOut } = given
  const ask = createAsk({ key, onLost: connection.lost, onKeyEnded: signOut })
  // An operator's own questions have no organisation; all others are about the one that is looked at.
  const askOf: Ask = (path, options) =>
    ask(path.startsWith('/v1/operator/') ? path : aboutOrg({ me, org }, path), options)
  return { ...given, ask: askOf }
}

export const createConsoleWeir = (key: string, signOut: ConsoleSession['signOut']): Weir =>
  createWeir({ url: location.origin, key, fetch: fetchOf(signOut) })

/** An address, for the organisation that is looked at. */
export const aboutOrg = ({ me, org }: Pick<ConsoleSession, 'me' | 'org'>, path: string): string =>
  me.is_operator && org !== me.org_id ? `${path}${path.includes('?') ? '&' : '?'}org=${encodeURIComponent(org)}` : path

/** The SDK's requests, too, end the session where the key has ended. */
const fetchOf =
  (signOut: ConsoleSession['signOut']): typeof fetch =>
  async (input, init) => {
    const response = await fetch(input, init)
    if (response.status !== 401) return response
    const copy = response.clone()
    signOut(messageOf(401, await copy.json().catch(() => undefined)))
    return response
  }

/** Whether the key may do what needs this scope; `data:write` stands for the write scopes of all uploaded types. */
export const may = ({ scopes }: Me, scope: string): boolean => {
  if (scopes?.includes(scope)) return true
  // keys:manage is had by name alone.
  if (scopes === null || scopes.includes('all')) return scope !== 'keys:manage'
  return scope.endsWith(':write') && !notUploads.includes(scope) && scopes.includes('data:write')
}

const notUploads = ['interactions:write', 'rejections:write', 'waiting:write']

export const wordsOf = (error: unknown): string =>
  error instanceof AskError && error.status === 403
    ? `Your key may not see this: ${error.message}`
    : error instanceof Error
      ? error.message
      : String(error)
