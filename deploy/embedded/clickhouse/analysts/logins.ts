import { createHash, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { rename, writeFile } from 'node:fs/promises'
import { analystOf } from '#schemas/derive/analysts.js'

export type Logins = ReturnType<typeof openLogins>

/** A masked analyst reads the views in which persons are masked, and nothing else. */
type Who = { org: string; masked: boolean }
type Login = Who & { passwordSha256: string }

/**
 * Analysts of one organisation each, whom "weir analysts" makes: the engine knows one user only, so they are kept in a file beside its data.
 * Of a password there is the hash.
 */
export const openLogins = (file: string) => {
  let logins = new Map(readLogins(file).map((login) => [userOf(login), login]))
  // One change after another: each writes the whole file.
  let last: Promise<void> = Promise.resolve()
  const change = (next: Map<string, Login>): Promise<void> => {
    last = last.catch(() => undefined).then(() => write(file, [...next.values()]))
    return last.then(() => {
      logins = next
    })
  }
  return {
    /** The analyst with this password. */
    find: (user: string, password: string): Who | undefined => {
      const login = logins.get(user)
      return login && isSame(login.passwordSha256, password) ? login : undefined
    },
    list: (): (Who & { user: string })[] =>
      [...logins]
        .map(([user, { org, masked }]) => ({ user, org, masked }))
        .sort((one, other) => (one.user < other.user ? -1 : 1)),
    has: (who: Who): boolean => logins.has(userOf(who)),
    add: (login: Login): Promise<void> => change(new Map(logins).set(userOf(login), login)),
    drop: (who: Who): Promise<void> => {
      const next = new Map(logins)
      next.delete(userOf(who))
      return change(next)
    },
  }
}

const userOf = ({ org, masked }: Who): string => analystOf(org, masked)

const readLogins = (file: string): Login[] => {
  try {
    // An older Weir knew none that are masked.
    return (JSON.parse(readFileSync(file, 'utf8')) as Login[]).map((login) => ({
      ...login,
      masked: login.masked ?? false,
    }))
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
