import { randomBytes } from 'node:crypto'
import { execa } from 'execa'
import { inject } from 'vitest'
import { createClickHouse } from '#platform/clickhouse.js'
import { createUploader, type Uploader } from './uploader.js'
import type { WholeSystem } from './whole-system.js'

const askForSystem = async (): Promise<WholeSystem> => {
  const answer = await fetch(`${inject('systemsUrl')}/${process.env.VITEST_POOL_ID}`)
  if (!answer.ok) throw new Error(await answer.text())
  return (await answer.json()) as WholeSystem
}

/** The running system that the journeys of this worker travel through, one after another. */
export const system = await askForSystem()

/** An analyst has ClickHouse, and nothing else. */
export const analyst = createClickHouse(system.env.CLICKHOUSE_URL)

export type Organisation = { name: string; key: string; uploader: Uploader }

/** An organisation that no other test knows, with a key that an operator issued. */
export const newOrganisation = async (stem: string, scopes?: string): Promise<Organisation> => {
  const name = `${stem}-${randomBytes(4).toString('hex')}`
  const { key } = await operate<{ key: string }>([
    'keys',
    'issue',
    '--org',
    name,
    ...(scopes ? ['--scopes', scopes] : []),
  ])
  return { name, key, uploader: createUploader(system.edgeUrl, key) }
}

/** Runs one of the operator's commands, and reads what it answers to machines. */
export const operate = async <T>(words: string[]): Promise<T> => {
  const { stdout } = await execa(process.execPath, ['dist/services/operator/main.js', ...words, '--json'], {
    env: system.env,
  })
  return JSON.parse(stdout) as T
}
