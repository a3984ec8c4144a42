import { expect, it } from 'vitest'
import { addressOf, askOnce, waitForParts } from '../../../../services/operator/command/ask-servers.js'

const part = (name: string, check: () => Promise<unknown>) => ({ name, address: `${name}:1`, variable: 'HERE', check })

it('waits for a part that is only just starting', async () => {
  let asked = 0
  const check = async () => {
    if (++asked < 3) throw new Error('refused')
  }
  await waitForParts([part('kafka', check)], 5_000)
  expect(asked).toBe(3)
})

it('tells of every part that does not answer, and why', async () => {
  const waiting = waitForParts(
    [
      part('kafka', () => Promise.reject(new Error('refused'))),
      part('postgres', () => Promise.resolve()),
      part('registry', () => new Promise(() => {})),
    ],
    300,
  )
  await expect(waiting).rejects.toThrow(
    'kafka does not answer at kafka:1 after 0.3 s (refused): is it running? HERE says where it is\n' +
      'registry does not answer at registry:1 after 0.3 s (no answer): is it running? HERE says where it is',
  )
})

it('asks once, and has a line of its own for a part that does not answer', async () => {
  let asked = 0
  const away = part('the edge', () => Promise.reject(new Error(`refused ${++asked}`)))
  expect(await askOnce(away)).toBe(
    'the edge does not answer at the edge:1 (refused 1): is npm start running? HERE says where it is',
  )
  expect(await askOnce({ ...away, away: (address, reason) => `${address}: ${reason}` })).toBe('the edge:1: refused 2')
  expect(await askOnce(part('kafka', () => Promise.resolve()))).toBeUndefined()
  expect(
    await askOnce(
      part('registry', () => new Promise(() => {})),
      50,
    ),
  ).toContain('(no answer)')
})

it.each([
  ['postgres://weir:secret@db:5432/weir?password=secret', 'postgres://weir@db:5432/weir'],
  ['http://weir:secret@clickhouse:8123', 'http://weir@clickhouse:8123'],
  ['not a secret address', 'the address that was given'],
])('the address %s is shown as %s', (url, shown) => expect(addressOf(url)).toBe(shown))
