import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { promisify } from 'node:util'
import { openPrivateNetwork, type PrivateNetwork } from '../support/private-network.js'

export type ClusterNetwork = Awaited<ReturnType<typeof joinUp>>
export type HostName = string

/** Where no network could be made: why, in one line. */
export type NoNetwork = { whyNot: string }

/**
 * Hosts that are networks of their own, on one switch with this machine: two of them can be cut off from each other while this
 * machine still reaches both. The networks end with this process, also when it is killed.
 */
export const openClusterNetwork = async (names: readonly HostName[]): Promise<ClusterNetwork | NoNetwork> => {
  if (process.getuid?.() !== 0) return { whyNot: 'no hosts of their own: only root can join networks to this machine' }
  const opened: PrivateNetwork[] = []
  const close = async (): Promise<void> => {
    for (const network of opened) await network.close()
  }
  for (let n = 0; n <= names.length; n++) {
    const network = await openPrivateNetwork()
    if ('whyNot' in network) {
      await close()
      return network
    }
    opened.push(network)
  }
  try {
    const [hub, ...hosts] = opened as [PrivateNetwork, ...PrivateNetwork[]]
    return await joinUp(hub, new Map(names.map((name, n) => [name, hosts[n] as PrivateNetwork])), close)
  } catch (error) {
    await close()
    return { whyNot: `no hosts of their own: ${(error as Error).message}` }
  }
}

const joinUp = async (
  hub: PrivateNetwork,
  hosts: ReadonlyMap<HostName, PrivateNetwork>,
  close: () => Promise<void>,
) => {
  // A range that is set apart for tests of networks (RFC 2544).
  const range = `198.18.${randomInt(1, 255)}`
  const own = `weir${randomInt(1e6)}`
  const names = [...hosts.keys()]
  const addressOf = (name: HostName): string => `${range}.${names.indexOf(name) + 11}`
  const hostOf = (name: HostName): PrivateNetwork => {
    const host = hosts.get(name)
    if (!host) throw new Error(`there is no host ${name}`)
    return host
  }

  await ip(hub, 'link add name hub type bridge')
  await ip(hub, 'link set hub up')
  const plugIn = async (port: string, device: string, pid: number): Promise<void> => {
    await ip(hub, `link add name ${port} type veth peer name ${device} netns ${pid}`)
    await ip(hub, `link set dev ${port} master hub up`)
  }
  for (const [name, host] of hosts) {
    await plugIn(`to-${name}`, 'eth0', host.pid)
    await ip(host, `address add ${addressOf(name)}/24 dev eth0`)
    await ip(host, 'link set eth0 up')
  }
  await plugIn('to-this', own, process.pid)
  await ip(undefined, `address add ${range}.1/24 dev ${own}`)
  await ip(undefined, `link set ${own} up`)

  const cuts = new Set<string>()
  /** What one sends to the other goes to a machine that is not there: nobody is told, as when a switch fails. */
  const onBoth = async (one: HostName, other: HostName, command: (address: string) => string): Promise<void> => {
    await ip(hostOf(one), command(addressOf(other)))
    await ip(hostOf(other), command(addressOf(one)))
  }
  const mend = async (one: HostName, other: HostName): Promise<void> => {
    if (!cuts.delete([one, other].sort().join())) return
    await onBoth(one, other, (address) => `neighbour delete ${address} dev eth0`)
  }
  return {
    addressOf,
    /** Put before a command, these run it on that host. */
    enter: (name: HostName): string[] => hostOf(name).enter,
    cut: async (one: HostName, other: HostName): Promise<void> => {
      cuts.add([one, other].sort().join())
      await onBoth(
        one,
        other,
        (address) => `neighbour replace ${address} lladdr 02:00:00:00:00:01 dev eth0 nud permanent`,
      )
    },
    mend,
    mendAll: async (): Promise<void> => {
      for (const pair of [...cuts]) {
        const [one = '', other = ''] = pair.split(',')
        await mend(one, other)
      }
    },
    close,
  }
}

const ip = async (network: PrivateNetwork | undefined, words: string): Promise<void> => {
  const [command = '', ...args] = [...(network?.enter ?? []), 'ip', ...words.split(' ')]
  await promisify(execFile)(command, args, { env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` } })
}
