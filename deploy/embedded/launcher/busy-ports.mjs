// @ts-check
// Plain Node, not TypeScript, so that it can also run before anything is compiled.
import { readdir, readFile, readlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { resolve } from 'node:path'

/** @typedef {{ launcher: number, dataDir: string | undefined }} OtherWeir a Weir that runs, and where its data is */
/** @typedef {{ variable: string, port: number, problem: string, holder?: string | undefined, weir?: OtherWeir | undefined }} BusyPort */

// Which ports this start needs and cannot have, who has them, and what to do: a line for each other Weir, or other program's port.
/** @type {(config: { edgeHost: string, ports: Readonly<Record<string, number>>, ownPorts: readonly string[] }) => Promise<string[]>} */
export const findBusyPorts = async ({ edgeHost, ports, ownPorts }) => {
  const tried = await Promise.all(
    ownPorts.map((variable) =>
      tryPort(variable, ports[variable] ?? 0, variable === 'EDGE_PORT' ? edgeHost : '127.0.0.1'),
    ),
  )
  const busy = tried.filter((each) => each !== undefined)
  /** @type {Map<number, BusyPort[]>} */
  const byLauncher = new Map()
  for (const each of busy) {
    if (each.weir) byLauncher.set(each.weir.launcher, [...(byLauncher.get(each.weir.launcher) ?? []), each])
  }
  return [...[...byLauncher.values()].map(lineForWeir), ...busy.filter(({ weir }) => !weir).map(lineForOther)]
}

/** @param {BusyPort[]} busy */
const lineForWeir = (busy) => {
  const { launcher, dataDir } = busy[0]?.weir ?? { launcher: 0, dataDir: undefined }
  const numbers = busy.map(({ port }) => port).join(', ')
  const where = dataDir ? ` with the data folder ${dataDir} (process ${launcher})` : ''
  // Moved by 10 000, 8080 becomes 18080.
  const moved = busy.map(({ variable, port }) => `${variable}=${port < 55_536 ? port + 10_000 : port - 10_000}`)
  const end = launcher ? `kill ${launcher}` : 'Ctrl-C in its terminal'
  return (
    `Another Weir runs on this machine${where} and has ${busy.length === 1 ? 'port' : 'the ports'} ${numbers}; ` +
    `end it (${end}), or start this one beside it: ${moved.join(' ')} npm start`
  )
}

/** @param {BusyPort} busy */
const lineForOther = ({ variable, port, problem, holder }) =>
  problem === 'EADDRINUSE'
    ? `Port ${port} is in use${holder ? ` by ${holder}` : ''}; end that, or set ${variable} to another one.`
    : `Port ${port} cannot be used (${problem}); set ${variable} to another one.`

/** @type {(variable: string, port: number, host: string) => Promise<BusyPort | undefined>} */
const tryPort = async (variable, port, host) => {
  const problem = await listenProblem(port, host)
  if (problem !== 'EADDRINUSE') return problem === undefined ? undefined : { variable, port, problem }
  const pid = await findPortHolder(port)
  // On other systems than Linux, and for other users' processes, only the edge can be known: by what it answers.
  if (pid === undefined) {
    const weir = (await answersAsWeir(port)) ? { launcher: 0, dataDir: undefined } : undefined
    return { variable, port, problem, weir }
  }
  const name = (await tolerant(readFile(`/proc/${pid}/comm`, 'utf8'), '')).trim() || 'a program'
  return { variable, port, problem, holder: `${name} (process ${pid})`, weir: await weirOf(pid) }
}

/** @type {(port: number, host: string) => Promise<string | undefined>} */
const listenProblem = (port, host) =>
  new Promise((settle) => {
    const server = createServer()
    server.once('error', (error) => settle('code' in error ? String(error.code) : error.message))
    server.listen({ port, host, exclusive: true }, () => server.close(() => settle(undefined)))
  })

// The process that listens on a port; undefined where that cannot be found out.
/** @type {(port: number) => Promise<number | undefined>} */
const findPortHolder = async (port) => {
  const sockets = new Set([...(await listeners('/proc/net/tcp', port)), ...(await listeners('/proc/net/tcp6', port))])
  if (sockets.size === 0) return undefined
  for (const pid of (await tolerant(readdir('/proc'), [])).filter((name) => /^\d+$/.test(name))) {
    for (const descriptor of await tolerant(readdir(`/proc/${pid}/fd`), [])) {
      if (sockets.has(await tolerant(readlink(`/proc/${pid}/fd/${descriptor}`), ''))) return Number(pid)
    }
  }
  return undefined
}

const LISTEN = '0A'

/** @type {(file: string, port: number) => Promise<string[]>} */
const listeners = async (file, port) => {
  const lines = (await tolerant(readFile(file, 'utf8'), '')).split('\n').slice(1)
  const hexPort = port.toString(16).toUpperCase().padStart(4, '0')
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTEN && local?.endsWith(`:${hexPort}`))
    .map((fields) => `socket:[${fields[9]}]`)
}

// The Weir that a process belongs to: the process or one of those that started it is a launcher, `node …/start.mjs`.
/** @type {(pid: number) => Promise<OtherWeir | undefined>} */
const weirOf = async (pid) => {
  for (let each = pid; each > 1; each = await parentOf(each)) {
    const words = (await tolerant(readFile(`/proc/${each}/cmdline`, 'utf8'), '')).split('\0')
    const script = words.find((word) => word.endsWith('deploy/embedded/start.mjs'))
    if (script === undefined) continue
    const clone = resolve(await tolerant(readlink(`/proc/${each}/cwd`), '/'), script, '../../..')
    const variables = (await tolerant(readFile(`/proc/${each}/environ`, 'utf8'), '')).split('\0')
    const given = variables.find((text) => text.startsWith('DATA_DIR='))?.slice('DATA_DIR='.length)
    return { launcher: each, dataDir: resolve(clone, given?.trim() || '.data') }
  }
  return undefined
}

/** @param {number} pid */
const parentOf = async (pid) => {
  const status = await tolerant(readFile(`/proc/${pid}/status`, 'utf8'), '')
  return Number(/^PPid:\s*(\d+)/m.exec(status)?.[1] ?? 0)
}

/** @param {number} port whether this is that of an edge */
export const answersAsWeir = async (port) => {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/openapi.json`, { signal: AbortSignal.timeout(3_000) })
    const document = /** @type {{ info?: { title?: string } }} */ (await answer.json())
    return document.info?.title === 'Weir'
  } catch {
    // No answer, or one that is not the edge's: some other program.
    return false
  }
}

// Processes come and go while we look, and those of other users may not be looked at.
/** @type {<T>(promise: Promise<T>, fallback: T) => Promise<T>} */
const tolerant = (promise, fallback) => promise.catch(() => fallback)
