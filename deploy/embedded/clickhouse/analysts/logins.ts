import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'

export type Logins = ReturnType<typeof openLogins>

type Login = { org: string; passwordSha256: string }

export const analystPrefix = 'analyst_'

/**
 * Analysts of one organisation each, whom "weir analysts" makes: the engine knows one user only, so they are kept in a file beside its data.
 * Of a password there is the hash.
 */
export const openLogins = (file: string) => {
  let logins = new Map(readLogins(file).map((login) => [`${analystPrefix}${login.org}`, login]))
  // One change after another: each writes the whole file.
  let last: Promise<void> = Promise.resolve()
  const change = (next: Map<string, Login>): Promise<void> => {
    last = last.catch(() => undefined).then(() => write(file, [...next.values()]))
    return last.then(() => {
      logins = next
    })
  }
  return {
    /** The organisation of the analyst with this password. */
    orgOf: (user: string, password: string): string | undefined => {
      const login = logins.get(user)
      return login && isSame(login.passwordSha256, password) ? login.org : undefined
    },
    list: (): { user: string; org: string }[] =>
      [...logins].map(([user, { org }]) => ({ user, org })).sort((one, other) => (one.user < other.user ? -1 : 1)),
    has: (org: string): boolean => logins.has(`${analystPrefix}${org}`),
    add: (login: Login): Promise<void> => change(new Map(logins).set(`${analystPrefix}${login.org}`, login)),
    drop: (org: string): Promise<void> => {
      const next = new Map(logins)
      next.delete(`${analystPrefix}${org}`)
      return change(next)
    },
  }
}

const readLogins = (file: string): Login[] => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Login[]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw new Error(`the analysts in ${file} cannot be read: ${(error as Error).message}`)
  }
}

/** Whole or not at all, and readable for nobody else. */
const write = async (file: string, logins: readonly Login[]): Promise<void> => {
  await writeFile(`${file}.new`, JSON.stringify(logins), { mode: 0o600, flush: true })
  await rename(`${file}.new`, file)
}

const isSame = (sha256: string, password: string): boolean => {
  const known = Buffer.from(sha256, 'hex')
  const given = createHash('sha256').update(password).digest()
  return known.length === given.length && timingSafeEqual(known, given)
}
