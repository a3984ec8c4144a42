import { describe, expect, it } from 'vitest'
import { createGathering } from '../../../services/sink/gathering.js'

/** A gathering of at least 300 ms, after the inserts of a fetch that took so long. */
const inserted = async (...took: number[]) => {
  let time = 0
  const gathering = createGathering(300, () => time)
  const partition = async (ms: number) => {
    await Promise.resolve()
    time = Math.max(time, ms)
  }
  await Promise.all(took.map((ms) => gathering.watch(() => partition(ms))))
  return gathering
}

describe('gathering', () => {
  it('is as short as it may be while inserts are quick', async () => {
    expect((await inserted()).ms()).toBe(300)
    expect((await inserted(20)).ms()).toBe(300)
  })

  it('takes twice as long as the inserts of the last fetch took, all partitions together', async () => {
    expect((await inserted(200)).ms()).toBe(400)
    expect((await inserted(20, 300, 100)).ms()).toBe(600)
  })

  it('has an end, which a longer setting moves', async () => {
    expect((await inserted(9000)).ms()).toBe(750)
    expect((await inserted(9000)).mostMs).toBe(750)
    expect(createGathering(2000).mostMs).toBe(2000)
    expect(createGathering(2000).ms()).toBe(2000)
  })

  it('counts the time of inserts that failed', async () => {
    let time = 0
    const gathering = createGathering(300, () => time)
    const failing = gathering.watch(async () => {
      time = 350
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(gathering.ms()).toBe(700)
  })
})
