import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { pino } from 'pino'
import { inject } from 'vitest'
import { createKeyText, hashKey } from '#ledger/key-text.js'
import { insertKey } from '#ledger/keys.js'
import { createOrg } from '#ledger/organisations.js'
import { createClickHouse } from '#platform/clickhouse.js'
import { createPool, inTransaction } from '#platform/postgres/postgres.js'
import { noteSystem } from '../processor-time.js'
import { runWeir } from '../run-weir.js'
import { createUploader, type Uploader } from './uploader.js'
import type { WholeSystem } from './whole-system.js'

const connection = connect(inject('systemsPort'), '127.0.0.1')
const answers = createInterface(connection)[Symbol.asyncIterator]()

/** The running system that the journeys of this worker travel through, one after another. */
export const system = await nextSystem()
noteSystem(system)

/** An analyst has ClickHouse, and nothing else. */
export const analyst = createClickHouse(system.env.CLICKHOUSE_URL)

export type Organisation = { name: string; key: string; uploader: Uploader }

/** An organisation that no other test knows, with a key of its own, made as `weir keys issue` makes them. */
export const newOrganisation = async (stem: string, scopes?: string): Promise<Organisation> => {
  const name = `${stem}-${randomBytes(4).toString('hex')}`
  const { keyId, key } = createKeyText()
  const issued = { keyId, hash: hashKey(key), org: name, scopes: scopes?.split(',') ?? null, lifetime: null }
  // A connection for the moment only: journeys stop Postgres, too.
  const pool = createPool(system.env.POSTGRES_URL, pino({ level: 'silent' }), 1)
  try {
    await inTransaction(pool, async (connection) => {
      await createOrg(connection, name)
      await insertKey(connection, issued)
    })
  } finally {
    await pool.end()
  }
  return { name, key, uploader: createUploader(system.edgeUrl, key) }
}

/** Runs one of the operator's commands, and reads what it answers to machines. */
export const operate = async <T>(words: string[]): Promise<T> => {
  const { stdout, stderr, exitCode } = await runWeir([...words, '--json'], system.env)
  if (exitCode !== 0) throw new Error(`weir ${words.join(' ')} ended with ${exitCode}: ${stdout}${stderr}`)
  return JSON.parse(stdout) as T
}

/** Stops the system in good order, and starts it again on the same data and ports. */
export const restartSystem = async (): Promise<void> => {
  connection.write('again\n')
  Object.assign(system, await nextSystem())
}

/** The system runs for as long as this connection is open, and that for as long as this worker lives. */
async function nextSystem(): Promise<WholeSystem> {
  connection.ref()
  const { value } = await answers.next()
  connection.unref()
  const answer = JSON.parse(value ?? '{"problem":"whoever starts the systems is gone"}')
  if ('problem' in answer) throw new Error(answer.problem)
  return answer.system as WholeSystem
}
