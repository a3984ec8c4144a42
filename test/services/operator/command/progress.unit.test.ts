import { expect, it } from 'vitest'
import { createProgress } from '../../../../services/operator/command/progress.js'

const runOn = (screen: { isTTY?: boolean; columns?: number }) => {
  const written: string[] = []
  let time = 0
  const progress = createProgress('shops', 2000, { ...screen, write: (text) => written.push(text) }, () => time)
  const pass = (ms: number) => {
    time += ms
  }
  return { written, progress, pass }
}

it('redraws one line of a terminal, no wider than that', () => {
  const { written, progress, pass } = runOn({ isTTY: true, columns: 60 })
  pass(1000)
  progress.advance(500)
  pass(50)
  progress.advance(1)
  pass(2950)
  progress.advance(1499)
  progress.end()
  expect(written).toHaveLength(3)
  expect(written[0]).toBe('\r\x1b[Kshops ██████░░░░░░░░░░░░░░░░░░ 500 of 2 000, 1.0 s, 3.0 s l')
  expect(written[2]).toBe('\r\x1b[Kshops ████████████████████████ 2 000 of 2 000, 4.0 s\n')
})

it('writes a line now and then where it cannot be redrawn', () => {
  const { written, progress, pass } = runOn({})
  progress.advance(1)
  pass(5000)
  progress.advance(499)
  progress.end()
  expect(written).toEqual([
    'shops ██████░░░░░░░░░░░░░░░░░░ 500 of 2 000, 5.0 s, 15 s left\n',
    'shops ██████░░░░░░░░░░░░░░░░░░ 500 of 2 000, 5.0 s\n',
  ])
})

it('is whole when there was nothing to do', () => {
  const written: string[] = []
  createProgress('tags', 0, { write: (text) => written.push(text) }, () => 0).end()
  expect(written).toEqual(['tags ████████████████████████ 0 of 0, 0.0 s\n'])
})
