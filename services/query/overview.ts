import type { FastifyInstance } from 'fastify'
import { addEndpoints, on } from '#http/endpoint.js'
import { callerOf } from '#http/request-context.js'
import type { Readiness } from '#platform/health/health.js'
import type { Catalogue } from '#schemas/catalogue.js'
import { allows, readRejections } from '#schemas/derive/scopes.js'
import { readOverview } from '#schemas/endpoints/overview.js'
import type { Reads } from './reads.js'
import { rejectionAnswer } from './rejections/answers.js'
import type { OwnRejections } from './rejections/rejections.js'

export type OverviewDeps = {
  catalogue: Catalogue
  readiness: { everything: () => Promise<Readiness> }
  /** When a record of each type was last accepted. */
  lastAccepted: (orgId: string) => Promise<{ type: string; lastAcceptedAt: Date | null }[]>
  /** How many records wait now, at most `mostCounted`. */
  countWaiting: (orgId: string) => Promise<number>
  /** How many milliseconds an organisation's oldest batch of a type has been undecided, as this edge knows. */
  lagOf: (type: string, orgId: string) => number
  rejections: Pick<OwnRejections, 'list'>
  reads: Reads
  consoleReads: Reads
}

/** GET /v1/overview: whether everything works, in an uploader's words, how fresh each type is, and what was refused last. */
export const addOverview = (app: FastifyInstance, deps: OverviewDeps): void => {
  const { catalogue } = deps

  // Beside the rest: without ClickHouse there are no refusals to show, and everything else is still worth showing.
  const lastRefusals = async (orgId: string) => {
    const page = await deps
      .reads(orgId, () => deps.rejections.list(orgId, { filter: {}, limit: 10 }))
      .catch(() => undefined)
    return page && !('error' in page) ? page.rejections.map(rejectionAnswer) : null
  }

  const read = on(readOverview, async (_asked, request) => {
    const { orgId, scopes, isOperator } = callerOf(request)
    const maySeeRefusals = allows(scopes, readRejections, catalogue)
    const [state, known, refusals] = await Promise.all([
      deps.readiness.everything(),
      // One after the other: a question uses one connection to Postgres at a time.
      deps.consoleReads(orgId, async () => ({
        freshness: await deps.lastAccepted(orgId),
        waiting: await deps.countWaiting(orgId),
      })),
      maySeeRefusals ? lastRefusals(orgId) : null,
    ])
    if ('error' in known) return known
    const lag = [...catalogue.all.keys()].map((type) => ({ type, seconds: deps.lagOf(type, orgId) / 1000 }))
    return {
      parts: partsOf(state),
      freshness: known.freshness.map(({ type, lastAcceptedAt }) => ({ type, last_accepted_at: lastAcceptedAt })),
      last_refusals: refusals,
      waiting: known.waiting,
      ...(isOperator && { lag }),
    }
  })
  addEndpoints(app, catalogue, [read])
}

/** What each part does for an uploader, and what it means when it is away. What is wrong inside is for the operator alone. */
const words: Readonly<Record<string, { does: string; away: string }>> = {
  kafka: {
    does: 'Uploads are taken in.',
    away: 'Uploads may not be taken in at the moment; sending them again later is safe.',
  },
  postgres: {
    does: 'Keys are checked and requests can be looked up.',
    away: 'Requests cannot be looked up at the moment, and keys that were not used lately are not known.',
  },
  registry: { does: 'Schemas are known.', away: 'The schema registry is away; what runs goes on.' },
  integrity: {
    does: 'Records are decided.',
    away: 'Records are taken in, and some are not decided at the moment; nothing is lost.',
  },
  sink: {
    does: 'Decided records reach the tables.',
    away: 'Decided records reach the tables later than usual; nothing is lost.',
  },
  clickhouse: {
    does: 'Tables, rejections and journeys can be read.',
    away: 'Tables, rejections and journeys cannot be read at the moment; uploads go on.',
  },
}

const partsOf = ({ parts }: Readiness) =>
  Object.entries(parts).map(([name, { ok }]) => ({
    name,
    ok,
    words: (ok ? words[name]?.does : words[name]?.away) ?? (ok ? 'It works.' : 'It does not work at the moment.'),
  }))
