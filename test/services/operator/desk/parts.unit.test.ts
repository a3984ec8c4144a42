import { expect, it } from 'vitest'
import { waitForParts } from '../../../../services/operator/desk/wait-for-part.js'

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
