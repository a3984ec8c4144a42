import { BlockList, isIP } from 'node:net'

/** Whether an address is one of these. */
export type Includes = (address: string | undefined) => boolean

/** A set of addresses and CIDR ranges, and the entries that are neither. */
export const readAddresses = (entries: readonly string[]): { includes: Includes; unreadable: string[] } => {
  // A list for blocking by name only: to Node it is a set of addresses.
  const list = new BlockList()
  const unreadable = entries.filter((entry) => !add(list, entry))
  // Whoever writes X-Forwarded-For may put any text there.
  const includes: Includes = (address = '') => isIP(address) !== 0 && list.check(address, familyOf(address))
  return { includes, unreadable }
}

/** Whether an edge that listens on this host is reached from this machine alone. */
export const isLoopback = (host: string): boolean => host.toLowerCase() === 'localhost' || loopback.includes(host)

const add = (list: BlockList, entry: string): boolean => {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  if (isIP(address) === 0) return false
  const family = familyOf(address)
  if (prefix === undefined) {
    list.addAddress(address, family)
    return true
  }
  // /0 is everybody; whoever writes that has no proxy.
  if (Number(prefix) < 1 || Number(prefix) > (family === 'ipv4' ? 32 : 128)) return false
  list.addSubnet(address, Number(prefix), family)
  return true
}

const familyOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

const loopback = readAddresses(['127.0.0.0/8', '::1'])
