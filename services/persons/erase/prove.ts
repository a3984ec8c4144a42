import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto'
import type { Counted, Erasure } from '#ledger/erasures/erasures.js'
import { thisBuild } from '#platform/health/build.js'
import { stretchesOf } from '#platform/kafka/read-topics.js'
import type { Pool } from '#platform/postgres/postgres.js'
import { firstRow } from '#platform/postgres/rows.js'
import { createRests } from '../remove/giving-way.js'
import { createErasedTables } from './clickhouse.js'
import type { EraseDeps } from './erase.js'
import { countInPostgres } from './postgres.js'
import { readForPersons, topicsOf } from './read-topics.js'
import { soughtBy } from './sought.js'
import { createWhoIsNamed } from './who-is-named.js'

export type ProofDeps = Pick<EraseDeps, 'pool' | 'kafka' | 'registry' | 'clickhouse' | 'catalogue' | 'place'> &
  Partial<Pick<EraseDeps, 'signal'>>

/** What was read for a proof, and what was found. It names nobody: `person_sha256` is known to who has the id and the salt. */
export type Proof = {
  erasure_id: string
  organisation: string
  mode: string
  asked_at: string
  asked_by: string
  checked_at: string
  weir: string
  ids: number
  found_before: Counted[]
  left: Counted[]
  read: { topics: { topic: string; partition: number; from: number; until: number }[]; tables: 'all' }
}

// More of them say nothing more.
const mostPlaces = 1_000

/**
 * Reads everything again, by the predicate that the erasure went by: topics from end to end, keys and values, byte by byte; ClickHouse's and
 * Postgres's tables. What cannot be read is an error, and no proof: unknown is not zero.
 */
export const checkErased = async (deps: ProofDeps, erasures: readonly Erasure[]): Promise<Map<string, Proof>> => {
  const { pool, kafka, clickhouse, catalogue } = deps
  for (const { erasureId, names } of erasures)
    if (names.length === 0) throw new Error(`the erasure ${erasureId} has not found out yet whom it is about`)
  const sought = await soughtBy(pool, erasures)
  const left = new Map<string, Counted[]>(erasures.map(({ erasureId }) => [erasureId, []]))
  const read = await readForPersons(
    deps,
    await stretchesOf(kafka, await topicsOf(kafka, catalogue, sought)),
    createWhoIsNamed(sought),
  )
  for (const { topic, partition, offset, erasures: whose } of read.named)
    for (const erasureId of whose) {
      const places = left.get(erasureId)
      if (places && places.length < mostPlaces) places.push({ where: `${topic}/${partition}@${offset}`, count: 1 })
    }
  const givesWay = createRests({ signal: deps.signal })
  const tables = createErasedTables(clickhouse, catalogue, deps.place, givesWay)
  for (const one of sought)
    for (const counts of [await tables.count(one), await countInPostgres(pool, one, givesWay)])
      for (const [erasureId, more] of counts) left.get(erasureId)?.push(...more)
  const at = new Date().toISOString()
  return new Map(
    erasures.map((erasure) => [
      erasure.erasureId,
      {
        erasure_id: erasure.erasureId,
        organisation: erasure.orgId,
        mode: erasure.mode,
        asked_at: erasure.askedAt.toISOString(),
        asked_by: erasure.askedBy,
        checked_at: at,
        weir: thisBuild().version,
        ids: erasure.names.length,
        found_before: erasure.found ?? [],
        left: left.get(erasure.erasureId) ?? [],
        read: { topics: read.stretches, tables: 'all' as const },
      },
    ]),
  )
}

export type SigningKey = { privateKey: string; publicKey: string }

/** The proof as text, and its signature: whoever has the public key can check it without Weir. */
export const signProof = ({ privateKey }: SigningKey, proof: Proof): { report: string; signature: string } => {
  const report = JSON.stringify(proof)
  return { report, signature: sign(null, Buffer.from(report), createPrivateKey(privateKey)).toString('base64') }
}

export const signingKey = async (pool: Pool): Promise<SigningKey> => {
  const find = () =>
    firstRow<SigningKey>(pool, `select private_key as "privateKey", public_key as "publicKey" from erasure.signing_key`)
  const there = await find()
  if (there) return there
  const made = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  // Two at once: the first one's counts.
  await pool.query(`insert into erasure.signing_key (private_key, public_key) values ($1, $2) on conflict do nothing`, [
    made.privateKey,
    made.publicKey,
  ])
  return (await find()) ?? made
}
