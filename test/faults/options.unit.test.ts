import { expect, it } from 'vitest'
import { readOptions } from './options.js'

it('runs every kind with twenty seeds, and no long run, where nothing is said', () => {
  const options = readOptions([])
  expect(options.seeds).toHaveLength(20)
  expect(options.only).toContain('chaos')
  expect(options).not.toHaveProperty('long')
})

it('makes one long run of --kills, with what is named', () => {
  expect(readOptions(['--kills', '1000', '--parts', '--waiting', '--retries', '--imports']).long).toEqual({
    ...{ kills: 1000, seed: 1, parts: true, waiting: true, retries: true, imports: true, erasures: false },
  })
  expect(readOptions(['--kills', '30', '--seed', '7']).long).toEqual({
    ...{ kills: 30, seed: 7, parts: false, waiting: false, retries: false, imports: false, erasures: false },
  })
})

it('runs on a cluster what is done to clusters alone', () => {
  const { only, cluster } = readOptions(['--cluster', '--seeds', '1'])
  expect(cluster).toBe(true)
  expect(only).toContain('postgres-fails-over')
  expect(only).not.toContain('chaos')
})
