import { join } from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { catalogue } from '#schemas/catalogue.js'
import { integrityGroupOf, sinkGroupOf } from '#schemas/derive/names.js'
import { publicTopicsOf } from '#schemas/derive/topic-reference/topic-reference.js'
import { topicsOf } from '#schemas/derive/topics.js'

// What the rights do on a real Kafka: test/services/platform/kafka/guarded-kafka.deep.test.ts.
const script = join(import.meta.dirname, '../../deploy/kafka-acls.sh')
const run = (words: string[], env: Record<string, string> = {}) => execa(script, words, { env, reject: false })
const dryRun = ['--dry-run', '--bootstrap-server', 'kafka:9093', '--command-config', '/my files/admin.properties']

it('hands the words that name the cluster on, and each right to the service that needs it', async () => {
  const { stdout } = await run(dryRun, { KAFKA_ACLS: '/opt/kafka-acls.sh', EDGE_PRINCIPAL: 'User:CN=weir edge,O=acme' })
  const lines = stdout.split('\n')
  const cluster = '--bootstrap-server kafka:9093 --command-config /my files/admin.properties'
  expect(lines[0]).toBe(
    `/opt/kafka-acls.sh ${cluster} --add --allow-principal User:CN=weir edge,O=acme --operation Read --operation Write --topic weir.submitted. --resource-pattern-type prefixed`,
  )
  for (const user of ['weir-integrity', 'weir-sink', 'weir-operator'])
    expect(lines.filter((line) => line.includes(`--allow-principal User:${user} `)).length).toBeGreaterThan(2)
})

it('knows every topic and every group that there is', async () => {
  const lines = (await run(dryRun)).stdout.split('\n').filter((line) => !line.includes('weir-operator'))
  const named = lines.flatMap((line) => {
    const isPrefix = line.includes('prefixed')
    return [...line.matchAll(/--(?:topic|group) (\S+)/g)].map(([, name = '']) => ({ name, isPrefix }))
  })
  const groups = [integrityGroupOf(), integrityGroupOf('interactions'), sinkGroupOf(), sinkGroupOf('interactions')]
  const names = [...topicsOf(catalogue).map(({ name }) => name), ...groups]
  const isKnown = (wanted: string) =>
    named.some(({ name, isPrefix }) => (isPrefix ? wanted.startsWith(name) : wanted === name))
  expect(names.filter((name) => !isKnown(name))).toEqual([])
})

it('lets the edge read every topic that the console shows', async () => {
  const lines = (await run(dryRun)).stdout
    .split('\n')
    .filter((line) => /weir-edge .*--operation Read --topic/.test(line))
  const named = lines.flatMap((line) =>
    [...line.matchAll(/--topic (\S+)/g)].map(([, name = '']) => ({ name, isPrefix: line.includes('prefixed') })),
  )
  const mayRead = (wanted: string) =>
    named.some(({ name, isPrefix }) => (isPrefix ? wanted.startsWith(name) : wanted === name))
  const shown = publicTopicsOf(catalogue).map(({ name }) => name)
  expect(shown.filter((name) => !mayRead(name))).toEqual([])
})

it('says what is missing, and ends where the tool fails', async () => {
  const { exitCode, stderr } = await run([])
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: expect.stringContaining('which cluster? For instance: '),
  })
  expect((await run(['--bootstrap-server', 'kafka:9093'], { KAFKA_ACLS: 'false' })).exitCode).toBe(1)
})
