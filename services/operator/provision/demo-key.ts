import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { commandLine } from '#ledger/audit.js'
import { createKeyText, hashKey, keyIdOf } from '#ledger/key-text.js'
import { findKeyByHash, insertKey, setKeyText, stateOf } from '#ledger/keys.js'
import { createOrg } from '#ledger/organisations.js'
import { type Connection, inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { OperatorError } from '../command/operator-error.js'

type DemoKeyOptions = { key: string | undefined; file: string | undefined }
export type DemoKeyProvisioned = { keyId: string; from: 'environment' | 'file' | 'new' }

const org = 'demo'
/** The id of a key that somebody chose by hand: its text holds none. */
const chosenKeyId = 'demo'

/** The organisation demo and one working key for it: the one in the environment, the one in the file, or a new one. */
export const provisionDemoKey = (pool: Pool, options: DemoKeyOptions): Promise<DemoKeyProvisioned> =>
  inTransaction(pool, async (connection) => {
    // Of two that run at the same time, the second waits, and then finds the first one's key in the file.
    await connection.query(`select pg_advisory_xact_lock(hashtext('weir.demo-key'))`)
    await createOrg(connection, org)
    const { key, ...made } = await chooseKey(connection, options)
    if (options.file !== undefined && made.from !== 'file') await writeSecret(options.file, key)
    return made
  })

const chooseKey = async (
  connection: Connection,
  { key, file }: DemoKeyOptions,
): Promise<DemoKeyProvisioned & { key: string }> => {
  if (key !== undefined) return { key, keyId: await adopt(connection, key), from: 'environment' }
  const kept = file === undefined ? undefined : await readSecret(file)
  const known = kept === undefined ? undefined : await findKeyByHash(connection, hashKey(kept))
  if (kept !== undefined && known?.org === org && stateOf(known, new Date()) === 'active') {
    return { key: kept, keyId: known.key_id, from: 'file' }
  }
  const made = createKeyText()
  const createdBy = commandLine.actor
  const hash = hashKey(made.key)
  await insertKey(connection, { keyId: made.keyId, hash, org, scopes: null, lifetime: null, createdBy })
  return { ...made, from: 'new' }
}

const adopt = async (connection: Connection, key: string): Promise<string> => {
  // A key travels in an HTTP header.
  if (!/^[\x21-\x7e]{8,}$/.test(key))
    throw new OperatorError('WEIR_DEMO_KEY must be at least 8 visible ASCII characters')
  const hash = hashKey(key)
  const known = await findKeyByHash(connection, hash)
  if (known && known.org !== org) throw new OperatorError(`WEIR_DEMO_KEY is a key of ${known.org}: choose another`)
  if (known) {
    const state = stateOf(known, new Date())
    // A key that was ended stays ended, even where an environment still names it.
    if (state !== 'active')
      throw new OperatorError(`WEIR_DEMO_KEY is ${state}: choose another, or unset it for a new one`)
    return known.key_id
  }
  const keyId = keyIdOf(key) ?? chosenKeyId
  await setKeyText(connection, { keyId, hash, org })
  return keyId
}

const readSecret = async (file: string): Promise<string | undefined> => {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

// Written beside it and renamed: only a new file gets the mode, and half a key is never read.
const writeSecret = async (file: string, key: string): Promise<void> => {
  await mkdir(dirname(file), { recursive: true })
  const draft = `${file}.${process.pid}`
  await writeFile(draft, `${key}\n`, { mode: 0o600 })
  await rename(draft, file)
}
