import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { kafkaPart } from '../../../../deploy/embedded/servers/kafka.js'

const undisturbed = new AbortController().signal
let above: string
beforeEach(() => {
  above = mkdtempSync(join(tmpdir(), 'weir-kafka-'))
})
afterEach(() => rmSync(above, { recursive: true }))

it('formats its log also for a cluster id that begins with a hyphen, as one in 64 does', async () => {
  const dataDir = above
  mkdirSync(join(dataDir, 'kafka'))
  writeFileSync(join(dataDir, 'kafka/cluster-id'), '-CMnmPorol7nY5ncO1eNFA')
  await kafkaPart({ dataDir, port: 19_092 }).prepare?.(undisturbed)
  expect(existsSync(join(dataDir, 'kafka/log/meta.properties'))).toBe(true)
})

it('takes its classes from the archive that the set-up made', async () => {
  const { command, args } = kafkaPart({ dataDir: above, port: 19_092 })
  const options = args.slice(0, args.indexOf('kafka.Kafka')).filter((word) => !word.startsWith('-agentlib:'))
  expect(options).toContainEqual(expect.stringMatching(/^-XX:SharedArchiveFile=.*classes\.jsa$/))
  // With this Java ends where it cannot use the archive; otherwise it would do without.
  const { stdout } = await execa(command, ['-Xshare:on', ...options, 'kafka.tools.StorageTool', 'random-uuid'])
  expect(stdout.split('\n').at(-1)).toMatch(/^[\w-]{22}$/)
})
