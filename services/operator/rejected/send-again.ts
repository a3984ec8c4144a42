import { createKeyText, hashKey } from '#ledger/key-text.js'
import { insertKey, revokeKey } from '#ledger/keys.js'
import { createOrg } from '#ledger/organisations.js'
import { claimRetries, rejectionName, releaseRetries } from '#ledger/retries/claims.js'
import type { ClickHouse } from '#platform/clickhouse.js'
import { inTransaction, type Pool } from '#platform/postgres/postgres.js'
import { findRecords } from '#rejections/find-rejections.js'
import type { Job } from '#rejections/plan-retry.js'
import { type SubmitAgain, sendClaimed } from '#rejections/send-claimed.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { writeScope } from '#schemas/derive/scopes.js'
import { OperatorError } from '../command/operator-error.js'
import { type Edge, requestOf } from './edge.js'

/** How many records were accepted and refused. `gone`: no longer among the rejections, or claimed by another run by now. */
export type Sent = { accepted: number; refused: number; gone: number }

type Deps = { pool: Pool; clickhouse: ClickHouse; catalogue: Catalogue; edge: Edge }

/** Sends all of these requests, with keys that live no longer than this run. */
export const sendAgain = async (deps: Deps, jobs: readonly Job[], onSent: (job: Job) => void): Promise<Sent> => {
  const scopesOf = (org: string) => [
    ...new Set(jobs.filter((job) => job.org === org).map(({ type }) => writeScope(type))),
  ]
  const keys = createRunKeys(deps.pool, scopesOf)
  const total: Sent = { accepted: 0, refused: 0, gone: 0 }
  try {
    for (const some of readTogether(jobs)) {
      const wanted = some.flatMap((job) => job.wanted)
      const records = await findRecords(deps.clickhouse, some[0]?.org ?? '', wanted)
      for (const job of some) {
        const sent = await sendOne({ ...deps, keys }, job, records)
        total.accepted += sent.accepted
        total.refused += sent.refused
        total.gone += sent.gone
        onSent(job)
      }
    }
  } finally {
    await keys.revokeAll()
  }
  return total
}

/** Claims, sends and settles one request. Whatever ends the run in between, the next run can go on from there. */
const sendOne = async (
  deps: Deps & { keys: RunKeys },
  job: Job,
  records: ReadonlyMap<string, string>,
): Promise<Sent> => {
  const { pool } = deps
  const { retryId, org, type } = job
  const wanted = job.isClaimed
    ? job.wanted
    : await claimRetries(
        pool,
        job.wanted.map((each) => ({ ...each, retryId, org, type })),
      )
  const isWhole = wanted.length > 0 && wanted.every((each) => records.has(rejectionName(each)))
  if (!isWhole) {
    if (!job.isClaimed) await releaseRetries(pool, retryId)
    return { accepted: 0, refused: 0, gone: job.wanted.length }
  }
  const submit: SubmitAgain = async ({ records: texts, idempotencyKey }) => {
    const { path, body, read } = requestOf(deps.catalogue, type, texts)
    return deps.edge.send({ path, key: await deps.keys.keyOf(org), idempotencyKey, body }, read)
  }
  const sent = await sendClaimed({ pool, submit }, { ...job, wanted }, records)
  if ('notTaken' in sent) {
    // Released only where the body itself is refused. Otherwise an earlier attempt may have been taken, and its answer lost:
    // the next run asks for it.
    if (sent.isAboutTheBody) await releaseRetries(pool, retryId)
    throw new OperatorError(`the edge does not take ${wanted.length} ${type} of ${org}: ${sent.notTaken}`)
  }
  return { ...sent, gone: job.wanted.length - wanted.length }
}

// Records of several requests are read at once, because each interaction is a request of its own.
const recordsAtOnce = 1000

/** Consecutive jobs of one organisation, whose records are read at once. */
const readTogether = (jobs: readonly Job[]): Job[][] => {
  const groups: Job[][] = []
  let count = 0
  for (const job of jobs) {
    const group = groups.at(-1)
    count += job.wanted.length
    if (group && group[0]?.org === job.org && count <= recordsAtOnce) group.push(job)
    else {
      groups.push([job])
      count = job.wanted.length
    }
  }
  return groups
}

const lifetime = 15 * 60_000
const renewAfter = 10 * 60_000

export type RunKeys = {
  /** A key of this organisation that lives for some minutes more. */
  keyOf: (org: string) => Promise<string>
  revokeAll: () => Promise<void>
}

/** Keys for one run of a command: for these scopes only, and short-lived, so that a run that is killed leaves no lasting key. */
export const createRunKeys = (pool: Pool, scopesOf: (org: string) => string[], now = Date.now): RunKeys => {
  const issued = new Map<string, { keyId: string; key: string; at: number }>()

  const issue = async (org: string): Promise<string> => {
    const { keyId, key } = createKeyText()
    await inTransaction(pool, async (connection) => {
      // Where interactions need no key, their organisation may never have been created.
      await createOrg(connection, org)
      await insertKey(connection, { keyId, hash: hashKey(key), org, scopes: scopesOf(org), lifetime })
    })
    issued.set(org, { keyId, key, at: now() })
    return key
  }

  return {
    keyOf: async (org) => {
      const found = issued.get(org)
      if (found && now() - found.at < renewAfter) return found.key
      if (found) await revokeKey(pool, found.keyId)
      return issue(org)
    },
    revokeAll: async () => {
      for (const { keyId } of issued.values()) await revokeKey(pool, keyId)
      issued.clear()
    },
  }
}
