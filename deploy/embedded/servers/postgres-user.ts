import { execFile, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { promisify } from 'node:util'

type PostgresUser = {
  /** The command to put before Postgres's own; empty when Postgres can run as the current user. */
  readonly runAs: string[]
  /** Makes the user the owner of the data folder and of all that is in it. */
  own: () => Promise<void>
}

/**
 * Postgres refuses to run as root. Where we are root it runs as another user, who must be able to enter folders that only root
 * may enter (root's home, a folder made by mktemp -d) and whose permissions are not ours to change. Tried in turn, from the
 * least power up: no extra power; reading and searching everywhere; ignoring all permissions, a power that root has in
 * containers too; a user namespace, in which root's files belong to that user. The first with which the binaries run and the
 * data folder can be written to is taken.
 */
export const findPostgresUser = async (home: string, postgres: string): Promise<PostgresUser> => {
  if (process.getuid?.() !== 0) return { runAs: [], own: async () => {} }
  const { uid, gid } = await otherUser()
  const ways: { runAs: string[]; owner: string }[] = [
    { runAs: setpriv(uid, gid), owner: `${uid}:${gid}` },
    { runAs: setpriv(uid, gid, 'dac_read_search'), owner: `${uid}:${gid}` },
    { runAs: setpriv(uid, gid, 'dac_override'), owner: `${uid}:${gid}` },
    { runAs: ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`], owner: '0:0' },
  ]
  for (const { runAs, owner } of ways) {
    await chown(home, owner)
    if (succeeds([...runAs, postgres, '--version']) && succeeds([...runAs, 'test', '-w', home])) {
      return { runAs, own: () => chown(home, owner) }
    }
  }
  throw new Error(
    'Postgres cannot run as root, nor as another user here: start as an ordinary user, or set POSTGRES_URL',
  )
}

const setpriv = (uid: number, gid: number, power?: string): string[] => {
  const powers = power ? `-all,+${power}` : '-all'
  return [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    // Without this, access(2), by which Postgres looks for its own binary, ignores the extra power of any user but root.
    ...(power ? ['--securebits=+no_setuid_fixup'] : []),
    `--inh-caps=${powers}`,
    `--ambient-caps=${powers}`,
    `--bounding-set=${powers}`,
  ]
}

// A user from /etc/passwd, because initdb refuses to run as a user without a name.
const otherUser = async (): Promise<{ uid: number; gid: number }> => {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  const [, , uid, gid] = lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody') ?? []
  if (uid === undefined) throw new Error('Postgres needs a user nobody or postgres in /etc/passwd, or set POSTGRES_URL')
  return { uid: Number(uid), gid: Number(gid) }
}

const succeeds = ([command = '', ...args]: string[]) => spawnSync(command, args).status === 0

const chown = async (folder: string, owner: string) => {
  const isOwned = async (path: string) => {
    const { uid, gid } = await stat(path)
    return `${uid}:${gid}` === owner
  }
  const marker = `${folder}/cluster/PG_VERSION`
  if ((await isOwned(folder)) && (!existsSync(marker) || (await isOwned(marker)))) return
  await promisify(execFile)('chown', ['-R', owner, folder])
}
