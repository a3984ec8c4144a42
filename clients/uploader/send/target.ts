import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { UsageError } from '../read/row.js'

/** Where records are sent, and with which key. */
export type Target = { url: string; key: string; keyId: string }

type Environment = Readonly<Record<string, string | undefined>>

/** As named, or of the system that runs here. A key is never an argument, which everybody on the machine could see. */
export const findTarget = (given: { url?: string; keyFile?: string }, env: Environment): Target => {
  const url = given.url ?? (env.WEIR_URL || undefined)
  const local = env.WEIR_LOCAL_URL || undefined
  const key = given.keyFile !== undefined ? readKey(given.keyFile) : env.WEIR_KEY || undefined
  if (url === undefined && local === undefined)
    throw new UsageError(
      'no server is named, and none runs in this folder: export WEIR_URL=https://… WEIR_KEY=…, or run npm start here',
    )
  const isLocal = url === undefined || url === local
  const found = key ?? (isLocal && env.WEIR_LOCAL_KEY_FILE ? readKey(env.WEIR_LOCAL_KEY_FILE) : undefined)
  if (found === undefined)
    throw new UsageError(`no key for ${url ?? local}: export WEIR_KEY=…, or name a file that holds it: --key-file`)
  const address = (url ?? local ?? '').replace(/\/+$/, '')
  if (!/^https?:\/\/[^/\s]/.test(address))
    throw new UsageError(`${address} is no address of a server: it begins with https:// or http://`)
  return { url: address, key: found, keyId: keyIdOf(found) }
}

/** The part of a key that is no secret; of a key of another form, a few digits of its hash. */
const keyIdOf = (key: string): string =>
  /^weir_([0-9A-Za-z]{12})_/.exec(key)?.[1] ?? createHash('sha256').update(key).digest('hex').slice(0, 8)

const readKey = (file: string): string => {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`the key cannot be read from ${file} (${(error as NodeJS.ErrnoException).code}): put it there`)
  }
  if (text === '') throw new UsageError(`${file} is empty: put the key there`)
  return text
}
