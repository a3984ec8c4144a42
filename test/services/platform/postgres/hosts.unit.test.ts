import { expect, it } from 'vitest'
import { addressesOf, addressProblem, changeAddress, createHosts } from '#platform/postgres/hosts.js'

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
