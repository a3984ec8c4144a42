import type { Analyst } from '#schemas/derive/analysts.js'
import { OperatorError } from '../command/operator-error.js'

/** The analysts of the embedded engine, which keeps them itself. */
export type EmbeddedAnalysts = ReturnType<typeof embeddedAnalysts>

export const embeddedAnalysts = (clickhouseUrl: string) => {
  const { origin, username, password } = new URL(clickhouseUrl)
  const login = [username, password].map(decodeURIComponent).join(':')
  const headers = { Authorization: `Basic ${Buffer.from(login).toString('base64')}` }
  const ask = (method: string, parameters: Record<string, string> = {}): Promise<Response> =>
    fetch(`${origin}/analysts?${new URLSearchParams(parameters)}`, { method, headers })
  const insist = async (answer: Response): Promise<unknown> => {
    const text = await answer.text()
    if (answer.ok) return JSON.parse(text)
    throw new OperatorError(`ClickHouse at ${origin} refuses: ${text.trim()}`)
  }
  return {
    /** Whether this is the embedded engine: a server knows no such address. */
    areThere: async (): Promise<boolean> => (await ask('GET')).status !== 404,
    list: async () => (await insist(await ask('GET'))) as Analyst[],
    add: async (who: Who, passwordSha256: string): Promise<void> => {
      const answer = await ask('PUT', { ...parametersOf(who), password_sha256: passwordSha256 })
      if (answer.status === 409) throw new OperatorError(isThere(who))
      await insist(answer)
    },
    drop: async (who: Who): Promise<void> => {
      await insist(await ask('DELETE', parametersOf(who)))
    },
    /** Whether anybody may read the rows of every organisation without a password. */
    isOpen: async (): Promise<boolean> => (await fetch(`${origin}/?query=select%201`)).ok,
  }
}

type Who = Pick<Analyst, 'org' | 'masked'>

const parametersOf = ({ org, masked }: Who): Record<string, string> => ({ org, ...(masked && { masked: '1' }) })

export const isThere = ({ org, masked }: Who): string =>
  `this analyst is there already: "weir analysts drop --org ${org}${masked ? ' --masked' : ''}" takes the user away first`
