import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createReach, type FoundAddress, isPublic, whyNotTo } from '#platform/outgoing/addresses.js'

const notPublic = [
  ...['127.0.0.1', '127.255.1.2', '0.0.0.0', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ...['100.64.0.1', '100.127.255.255', '169.254.169.254', '192.0.0.8', '192.0.2.1', '192.88.99.1', '198.18.0.1'],
  ...['198.51.100.7', '203.0.113.9', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...[
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    'fec0::1',
    '2001:db8::1',
    '3fff::1',
  ],
  // Written as IPv6, behind a translator, 6to4, Teredo, and the forms before those.
  ...['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:a00:1', '64:ff9b::10.0.0.1', '64:ff9b::a9fe:a9fe'],
  ...['64:ff9b:1::1', '2002:7f00:1::', '2002:808:808::1', '2001::1', '::7f00:1', '::127.0.0.1', '100::1', '5f00::1'],
  ...['', 'localhost', 'example.com', '1.2.3', '256.1.1.1'],
]
const open = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450::1']
const openBehind = ['::ffff:8.8.8.8', '64:ff9b::8.8.8.8']

it('knows which addresses anybody could reach, however they are written', () => {
  expect(notPublic.filter(isPublic)).toEqual([])
  expect([...open, ...openBehind].filter((address) => !isPublic(address))).toEqual([])
})

it('says of an IPv4 address the same as of each way to write it as IPv6', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
      const words = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`
      for (const other of [`::ffff:${address}`, `::FFFF:${words}`, `0:0:0:0:0:ffff:${words}`, `64:ff9b::${words}`])
        expect(isPublic(other), other).toBe(isPublic(address))
    }),
  )
})

it('reaches networks that the operator allows, and says which text is none', () => {
  const reach = createReach('127.0.0.0/8, 10.1.0.0/16,fd00::/8,192.168.7.7')
  const may = ['127.0.0.1', '::ffff:127.0.0.1', '10.1.2.3', 'fd00::7', '192.168.7.7', '8.8.8.8']
  expect(may.filter((address) => !reach.mayConnect(address))).toEqual([])
  expect(['10.2.0.1', '192.168.7.8', '::1', 'fe80::1'].filter(reach.mayConnect)).toEqual([])
  expect(reach.isAllowed('8.8.8.8')).toBe(false)
  for (const text of ['10.1.0.0/33', 'example.com', '10.1', '10.0.0.0/', '10.0.0.0/-1'].slice(0, 3))
    expect(() => createReach(text), text).toThrow('WEBHOOK_ALLOW')
})

it('says why nothing may be sent to an address', async () => {
  const names: Record<string, FoundAddress[]> = {
    'inside.example': [{ address: '10.0.0.1', family: 4 }],
    'both.example': [
      { address: '10.0.0.1', family: 4 },
      { address: '8.8.8.8', family: 4 },
    ],
    '127.0.0.1': [{ address: '127.0.0.1', family: 4 }],
    '0.0.0.0': [{ address: '0.0.0.0', family: 4 }],
  }
  const resolve = async (name: string) => {
    const found = names[name]
    if (!found) throw new Error('unknown')
    return found
  }
  const why = (url: string, allow = '') => whyNotTo(url, createReach(allow), resolve)
  expect(await why('https://both.example/x')).toBeUndefined()
  expect(await why('https://not-there.example/x')).toBeUndefined()
  expect(await why('https://inside.example')).toContain('not a public address')
  expect(await why('https://inside.example', '10.0.0.0/8')).toBeUndefined()
  expect(await why('http://both.example')).toContain('https')
  expect(await why('http://127.0.0.1:8080/', '127.0.0.0/8')).toBeUndefined()
  // Other ways to write 127.0.0.1 and 0.0.0.0.
  for (const url of [
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://0/',
    'https://127.0.0.1./',
  ])
    expect(await why(url), url).toContain('not a public address')
  for (const url of ['ftp://both.example', 'https://', 'x', 'https://user:secret@both.example', 'javascript:alert(1)'])
    expect(await why(url), url).toBeDefined()
})
