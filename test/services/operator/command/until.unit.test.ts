import { describe, expect, it } from 'vitest'
import { persist, until } from '../../../../services/operator/command/until.js'

describe('until', () => {
  it('looks until the answer is yes', async () => {
    let looks = 0
    expect(await until(async () => ++looks === 3, { every: 1 })).toBe(true)
    expect(looks).toBe(3)
  })

  it('gives up after so many looks, or so long a time', async () => {
    let looks = 0
    const no = async () => {
      looks++
      return false
    }
    expect(await until(no, { every: 1, tries: 4 })).toBe(false)
    expect(looks).toBe(4)
    expect(await until(no, { every: 5, within: 20 })).toBe(false)
  })

  it('ends at once, and with the reason, when it is aborted during a pause', async () => {
    const stop = new AbortController()
    const waiting = until(async () => false, { every: 60_000, signal: stop.signal })
    stop.abort(new Error('interrupted'))
    await expect(waiting).rejects.toThrow('interrupted')
  })
})

describe('persist', () => {
  const failing = (failures: number) => {
    let left = failures
    return async () => {
      if (left-- > 0) throw new Error(`failure ${left}`)
      return 'done'
    }
  }
  const always = () => true

  it('does work again while it fails in a way that passes', async () => {
    expect(await persist(failing(3), always, { every: 1, tries: 4 })).toBe('done')
    expect(await persist(async () => undefined, always, { every: 1, tries: 1 })).toBeUndefined()
  })

  it('gives up with the last failure', async () => {
    await expect(persist(failing(9), always, { every: 1, tries: 3 })).rejects.toThrow('failure 6')
  })

  it('does not repeat what fails for good', async () => {
    await expect(persist(failing(9), () => false, { every: 1, tries: 3 })).rejects.toThrow('failure 8')
  })
})
