import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { addressesOf, addressProblem, changeAddress, createHosts, findPrimary } from '#platform/postgres/hosts.js'

const several = 'postgres://weir:p%40ss,w@pg-1:5432,[::1]:6432,pg-3/weir?target_session_attrs=read-write'

it('makes of an address with several hosts one for each', () => {
  expect(addressesOf(several)).toEqual([
    'postgres://weir:p%40ss,w@pg-1:5432/weir?target_session_attrs=read-write',
    'postgres://weir:p%40ss,w@[::1]:6432/weir?target_session_attrs=read-write',
    'postgres://weir:p%40ss,w@pg-3/weir?target_session_attrs=read-write',
  ])
})

it.each(['postgres://weir:weir@127.0.0.1:5432/weir', 'postgres:///weir?host=/run/postgresql', 'nowhere'])(
  'leaves an address of one host as it is: %s',
  (url) => {
    expect(addressesOf(url)).toEqual([url])
    expect(addressProblem(url)).toBeUndefined()
    expect(createHosts(url)).toBeUndefined()
  },
)

it('changes what all hosts share', () => {
  const changed = changeAddress(several, (url) => {
    url.password = ''
    url.searchParams.set('sslmode', 'verify-full')
  })
  expect(changed).toBe(
    'postgres://weir@pg-1:5432,[::1]:6432,pg-3/weir?target_session_attrs=read-write&sslmode=verify-full',
  )
})

it('says what is wrong with an address', () => {
  expect(addressProblem(several)).toBeUndefined()
  expect(addressProblem('postgres://pg-1,pg-2:many/weir')).toBe('has several hosts and is not a URL')
  expect(addressProblem('postgres://pg-1,pg-2/weir?target_session_attrs=any')).toMatch(/Weir writes: say read-write/)
})

describe('of two hosts that take writes', () => {
  /** The old primary answers at once, its successor after a while. */
  const ask = (after: number) => async (address: string) => {
    if (address === 'old') return { address, timeline: 1 }
    await wait(after)
    return { address, timeline: 2 }
  }
  const find = async (newestSeen: number, after: number) =>
    (await findPrimary(['old', 'new'], newestSeen, ask(after))).address

  it('the one that was promoted last counts, also where it answers later', async () => {
    expect(await find(0, 500)).toBe('new')
    expect(await find(2, 1000)).toBe('new')
  })

  it('nobody waits long for one that may be gone', async () => {
    expect(await find(1, 3_000)).toBe('old')
  })

  it('an older one is taken where no other answers in its time', async () => {
    const gone = async (address: string) =>
      address === 'old' ? { address, timeline: 1 } : { address, error: new Error('gone') }
    expect(await findPrimary(['old', 'new'], 2, gone)).toEqual({ address: 'old', timeline: 1 })
  })
})
