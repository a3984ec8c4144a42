import { expect, it } from 'vitest'
import { readPrefer } from '../../../../services/edge/uploads/envelope.js'

const asks = (header: string | string[] | undefined) => readPrefer(header).respondAsync

it('finds respond-async among other preferences, in any case, with parameters', () => {
  for (const header of [
    'respond-async',
    'Respond-Async',
    ' return=minimal ,respond-async',
    'respond-async; a=1; b="x;y"',
    'handling="a, b; c", respond-async',
    'note="he said \\"hi, respond-async=no\\"", respond-async',
    'respond-async=""',
    'respond-async = ""',
    ',, respond-async ,',
  ])
    expect(asks(header), header).toBe(true)
  expect(asks(['return=minimal', 'respond-async'])).toBe(true)
})

it('does not find it where it only looks like it', () => {
  for (const header of [
    undefined,
    '',
    'respond-asynchronously',
    'respond',
    'x="respond-async"',
    'x="a, respond-async',
    'return=minimal; respond-async',
    'respond-async=no',
    'respond-async=no, respond-async',
    '"',
    ';=,',
  ])
    expect(asks(header), header).toBe(false)
})

it('reads wait as whole seconds, the first one, and no longer than a day', () => {
  const wait = (header: string) => readPrefer(header).wait
  expect(wait('respond-async, wait=10')).toBe(10)
  expect(wait('WAIT = "7" ; x, wait=10')).toBe(7)
  expect(wait('wait=0')).toBe(0)
  expect(wait('wait=99999999999999999999999')).toBe(86_400)
  for (const header of ['wait', 'wait=', 'wait=-1', 'wait=1.5', 'wait=ten', 'respond-async'])
    expect(wait(header), header).toBeUndefined()
})
