import { Resolver } from 'node:dns/promises'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { notRight, string } from '../process/config.js'

// Where Weir connects to because somebody who uploads has asked for it: only to addresses that anybody on the internet could reach as well,
// unless the operator allows a network.

export const outgoingVariables = {
  WEBHOOK_ALLOW: string(
    { default: '' },
    'networks that webhooks may be sent to although they are not public, comma-separated, such as `10.1.0.0/16` or `127.0.0.0/8`. There, plain HTTP will do. Without it, only public addresses over HTTPS',
  ),
}

/** An address that a name has. */
export type FoundAddress = { address: string; family: 4 | 6 }

export type Reach = ReturnType<typeof createReach>

/** Says which addresses may be connected to. Throws where what the operator allows is no list of networks. */
export const createReach = (allow: string) => {
  const allowed = readNetworks(allow)
  return {
    /** Whether the operator has named a network that this address is in. */
    isAllowed: (address: string): boolean => isIn(allowed, address),
    mayConnect: (address: string): boolean => isIn(allowed, address) || isPublic(address),
  }
}

const readNetworks = (text: string): BlockList => {
  const list = new BlockList()
  for (const network of text
    .split(',')
    .map((each) => each.trim())
    .filter(Boolean)) {
    const [address = '', bits] = network.split('/')
    const most = isIPv6(address) ? 128 : 32
    const prefix = bits === undefined ? most : Number(bits)
    if (isIP(address) === 0 || !/^\d*$/.test(bits ?? '') || !(prefix <= most))
      throw notRight([`WEBHOOK_ALLOW: ${JSON.stringify(network)} is no network, such as 10.1.0.0/16`])
    list.addSubnet(address, prefix, isIPv6(address) ? 'ipv6' : 'ipv4')
  }
  return list
}

const isIn = (list: BlockList, address: string): boolean => {
  const inner = embedded(address)
  if (inner !== undefined && list.check(inner, 'ipv4')) return true
  return isIP(address) !== 0 && list.check(address, isIPv4(address) ? 'ipv4' : 'ipv6')
}

/** Whether anybody on the internet could be reached at this address. What is not known to be public is not. */
export const isPublic = (address: string): boolean => {
  if (isIPv4(address)) return !special4.check(address, 'ipv4')
  if (!isIPv6(address) || address.includes('%')) return false
  const inner = embedded(address)
  if (inner !== undefined) return !special4.check(inner, 'ipv4')
  return global6.check(address, 'ipv6') && !special6.check(address, 'ipv6')
}

/** The IPv4 address that an IPv6 address stands for: written as IPv6 (::ffff:0:0/96), or behind a translator (64:ff9b::/96). */
const embedded = (address: string): string | undefined => {
  if (!isIPv6(address) || address.includes('%')) return undefined
  const words = wordsOf(address)
  const head = words.slice(0, 6).join(':')
  if (head !== '0:0:0:0:0:ffff' && head !== '64:ff9b:0:0:0:0') return undefined
  const [high = 0, low = 0] = words.slice(6).map((word) => Number.parseInt(word, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The eight words of an IPv6 address; URL knows each way to write one. */
const wordsOf = (address: string): string[] => {
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [left, right ?? ''].map((part) => part.split(':').filter(Boolean)) as [string[], string[]]
  const zeros = right === undefined ? 0 : 8 - before.length - after.length
  return [...before, ...Array.from({ length: zeros }, () => '0'), ...after]
}

const networks = (kind: 'ipv4' | 'ipv6', ...all: string[]): BlockList => {
  const list = new BlockList()
  for (const [address = '', bits] of all.map((each) => each.split('/'))) list.addSubnet(address, Number(bits), kind)
  return list
}

// The registries of special addresses that IANA keeps (RFC 6890 and what came after it).
const special4 = networks(
  'ipv4',
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
)
// All that is given out; beside it are loopback, link-local, ULA (fc00::/7), multicast and what has no meaning yet.
const global6 = networks('ipv6', '2000::/3')
// Teredo and others for protocols, documentation, 6to4 (which leads to any IPv4 address, and which nobody needs any more), 6bone.
const special6 = networks(
  'ipv6',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3ffe::/16',
  '3fff::/20',
)

/** Resolves a name to its addresses; rejects where it has none. */
export type ResolveName = (name: string) => Promise<FoundAddress[]>

/**
 * Asks DNS, not the system: a name whose servers do not answer would keep one of the process's four threads for it, and a few such names
 * would hold up every other one.
 */
export const resolveName: ResolveName = async (name) => {
  const ip = isIP(name)
  if (ip !== 0) return [{ address: name, family: ip as 4 | 6 }]
  if (name === 'localhost') return [{ address: '127.0.0.1', family: 4 }]
  const resolver = new Resolver({ timeout: 2_000, tries: 2 })
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
  const found = [
    ...(four.status === 'fulfilled' ? four.value : []).map((address) => ({ address, family: 4 as const })),
    ...(six.status === 'fulfilled' ? six.value : []).map((address) => ({ address, family: 6 as const })),
  ]
  if (found.length === 0) throw new Error(`the name ${name} has no address (${codeOf(four)})`)
  return found
}

const codeOf = (result: PromiseSettledResult<unknown>): string =>
  result.status === 'rejected' ? String((result.reason as { code?: unknown }).code) : 'ENODATA'

/**
 * Why nothing may be sent to an address; undefined where it may. A name that has no address yet is taken: it is resolved anew for each
 * attempt, and what is found then is checked.
 */
export const whyNotTo = async (text: string, reach: Reach, resolve = resolveName): Promise<string | undefined> => {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return 'url must be an address that begins with https://'
  const url = new URL(text)
  if (url.username || url.password) return 'url must hold no user and no password: deliveries are signed instead'
  const host = hostOf(url)
  const found = await resolve(host).catch(() => [])
  if (found.length > 0 && !found.some(({ address }) => reach.mayConnect(address)))
    return `${host} is not a public address; an operator can allow its network (WEBHOOK_ALLOW)`
  if (url.protocol === 'http:' && !found.some(({ address }) => reach.isAllowed(address)))
    return 'url must begin with https://; plain http leads only to networks that the operator allows'
  return undefined
}

/** A host of a URL as a name or an address: without the brackets that stand around IPv6, and the dot that may end a name. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '')
