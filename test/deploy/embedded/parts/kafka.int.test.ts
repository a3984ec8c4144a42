import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { kafkaPart } from '../../../../deploy/embedded/parts/kafka.js'

it('formats its log also for a cluster id that begins with a hyphen, as one in 64 does', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'weir-kafka-'))
  mkdirSync(join(dataDir, 'kafka'))
  writeFileSync(join(dataDir, 'kafka/cluster-id'), '-CMnmPorol7nY5ncO1eNFA')
  await kafkaPart({ dataDir, port: 19_092 }).prepare?.()
  expect(existsSync(join(dataDir, 'kafka/log/meta.properties'))).toBe(true)
  rmSync(dataDir, { recursive: true })
})
