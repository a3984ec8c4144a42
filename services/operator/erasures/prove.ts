import { writeFile } from 'node:fs/promises'
import { type Erasure, findErasure } from '#ledger/erasures/erasures.js'
import type { Proof } from '#persons/erase/prove.js'
import { reasonOf } from '#platform/health/health.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { isUuid } from '#schemas/uuid.js'
import { fileIsThere, OperatorError } from '../command/operator-error.js'
import type { Session } from '../command/session.js'
import type { WrittenProof } from './check.js'
import { inWords } from './text.js'

type Options = { out?: string; json?: boolean }
type Proved = { erasure: Erasure; proof: Proof; written: WrittenProof }

/** Reads everything again; the exit code says whether something is left, or that nobody can say. */
export const prove = async (erasureId: string, options: Options, session: Session): Promise<void> => {
  try {
    const { erasure, proof, written } = await read(erasureId, session)
    if (options.out !== undefined) await writeNew(options.out, `${JSON.stringify(written, null, 2)}\n`)
    if (options.json) session.print(JSON.stringify({ erasure_id: erasureId, left: proof.left, ...written }))
    else session.print(inWords(proof).join('\n'))
    if (options.out !== undefined)
      session.note(`${options.out}: signed; "weir erasures check ${options.out}" checks it anywhere`)
    else if (!options.json)
      session.note('With --out <file> the signed proof of this is written to a file, with --json it is shown.')
    if (proof.left.length === 0) return
    session.note(nextStep(erasure))
    session.endWith(1)
  } catch (error) {
    throw new OperatorError(`it cannot be said whether something is left: ${reasonOf(error)}`, 2)
  }
}

const read = (erasureId: string, session: Session): Promise<Proved> => {
  const { catalogue, config } = session
  return session.withParts(
    ['pool', 'kafka', 'registry', 'clickhouse'],
    async (parts) => {
      const erasure = await findKnown(parts.pool, erasureId)
      if (erasure.isDryRun)
        throw new OperatorError(
          `${erasureId} was a dry run, which removes nothing: "weir erasures show ${erasureId}" says what there was`,
        )
      // Loaded only here, with the Avro library: every other command starts sooner.
      const { checkErased, signingKey, signProof } = await import('#persons/erase/prove.js')
      session.note('reading all topics and tables …')
      const place = { cluster: config.CLICKHOUSE_CLUSTER }
      const proof = (await checkErased({ ...parts, catalogue, place }, [erasure])).get(erasureId)
      if (!proof) throw new Error(`nothing was read about ${erasureId}`)
      const key = await signingKey(parts.pool)
      return { erasure, proof, written: { ...signProof(key, proof), public_key: key.publicKey } }
    },
    { requestTimeout: 600_000 },
  )
}

const writeNew = async (file: string, text: string): Promise<void> => {
  try {
    await writeFile(file, text, { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw fileIsThere(file)
  }
}

const nextStep = ({ erasureId, orgId, mode, afterwards, status }: Erasure): string => {
  if (status === 'running') return `It still runs: "weir erasures show ${erasureId}" says how far it is.`
  if (mode === 'organisation' || status === 'failed') return `"weir erasures again ${erasureId}" takes it out, too.`
  const again = `"weir erasures create --org ${orgId} --person <id> --mode ${mode} --wait" takes it out, too`
  return afterwards === 'new'
    ? `What was uploaded since counts, as that of somebody new. If it is the same person, ${again}.`
    : `${again}. If it comes back, say so to whoever runs Weir: what names the person is refused since.`
}

export const findKnown = async (pool: Pool, erasureId: string): Promise<Erasure> => {
  const found = isUuid(erasureId) ? await findErasure(pool, erasureId) : undefined
  if (!found) throw new OperatorError(`there is no erasure ${erasureId}: "weir erasures list" shows those there are`)
  return found
}
