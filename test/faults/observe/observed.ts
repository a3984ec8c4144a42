import { createClient, createHosts } from '#platform/postgres/hosts.js'
import { currentTableOf, historyViewOf, viewOf } from '#schemas/derive/names.js'
import type { UploadAnswer } from '../../support/system/uploader.js'
import type { Ledger } from '../workload/ledger.js'
import { idFieldOf, uploadTypes } from '../workload/plan.js'
import { createAnalyst } from './clickhouse.js'
import type { Followed } from './feed-follower.js'
import type { Seen } from './topics.js'

/** What the world has of a run's organisations, wherever it can be looked up. */
export type Observed = {
  /** Rows of the analysts' views, by type. */
  views: Record<string, Row[]>
  /** The version that ClickHouse holds for each key of each type: `type org/id` → version. */
  versions: Map<string, number>
  /** Every version in the history of each key of each type, in order: `type org/id` → versions. */
  histories: Map<string, number[]>
  rejections: Rejection[]
  /** Everything on the accepted, rejected, interactions, verdicts and waiting topics, in the order of each partition. */
  topics: Seen[]
  verdicts: StoredVerdict[]
  /** What became of records that waited: as Postgres has it, and as analysts see it. */
  waits: StoredWait[]
  waitingLog: ShownWait[]
  /** What GET /v1/requests/{id} says now. */
  requests: Map<string, UploadAnswer>
  /** What readers of the organisations' feeds were handed while all of it happened. */
  feeds: Followed[]
  /** Of erasures: whether they are done, and where something is left. */
  erasures: { erasureId: string; status: string | undefined; left: string[] }[]
}
export type Row = Record<string, unknown> & { org_id: string }
export type Rejection = {
  org_id: string
  request_id: string
  batch_id: string
  index: number
  type: string
  codes: string[]
  record: string
}
export type StoredVerdict = {
  org_id: string
  batch_id: string
  request_id: string
  type: string
  first_index: number
  accepted: number
  refused: { index: number; problems: { code: string }[] }[]
  waiting: { index: number }[] | null
  gone: number[]
  submitted_offset: number
}
export type ShownWait = { org_id: string; type: string; batch_id: string; index: number; state: string }
/** `is_early`: refused before its time was over. */
export type StoredWait = ShownWait & { accepted_version: number | null; is_early: boolean }

// A long run has thousands of them.
const lookUpsAtOnce = 16

export const observe = async (deps: {
  ledger: Ledger
  addresses: { POSTGRES_URL: string; CLICKHOUSE_URL: string }
  topics: Seen[]
  lookUp: (org: string, requestId: string) => Promise<UploadAnswer>
}): Promise<Omit<Observed, 'feeds' | 'erasures'>> => {
  const { orgs, uploads, interactions } = deps.ledger
  const ask = createAnalyst(deps.addresses.CLICKHOUSE_URL)
  const list = `(${orgs.map((org) => `'${org}'`).join(', ')})`
  const ofOrgs = `where org_id in ${list}`

  const views: Observed['views'] = { interactions: await ask<Row>(`select * from weir.interactions ${ofOrgs}`) }
  const versions = new Map<string, number>()
  const histories = new Map<string, number[]>()
  for (const type of uploadTypes) {
    const key = `concat(org_id, '/', toString(${idFieldOf(type)})) as key`
    views[type] = await ask<Row>(`select * from weir.${viewOf(type)} ${ofOrgs}`)
    const held = await ask<{ key: string; version: string }>(
      `select ${key}, version from weir.${currentTableOf(type)} final ${ofOrgs}`,
    )
    for (const row of held) versions.set(`${type} ${row.key}`, Number(row.version))
    const kept = await ask<{ key: string; versions: string[] }>(
      `select ${key}, arraySort(groupArray(version)) as versions from weir.${historyViewOf(type)} ${ofOrgs} group by key`,
    )
    for (const row of kept) histories.set(`${type} ${row.key}`, row.versions.map(Number))
  }
  const requests: Observed['requests'] = new Map()
  const asked = [...uploads, ...interactions].filter(({ requestId }) => requestId !== null).values()
  const lookUpNext = async (): Promise<void> => {
    for (const { org, requestId } of asked) requests.set(requestId ?? '', await deps.lookUp(org, requestId ?? ''))
  }
  await Promise.all(Array.from({ length: lookUpsAtOnce }, lookUpNext))
  return {
    views,
    versions,
    histories,
    requests,
    rejections: await ask<Rejection>(
      `select org_id, toString(request_id) as request_id, toString(batch_id) as batch_id, \`index\`, type, problems.code as codes, record
       from weir.rejections ${ofOrgs}`,
    ),
    topics: deps.topics.filter(({ value }) => orgs.includes(String(value.org_id))),
    waitingLog: await ask<ShownWait>(
      `select org_id, type, toString(batch_id) as batch_id, \`index\`, state from weir.waiting_log final ${ofOrgs}`,
    ),
    ...(await stored(deps.addresses.POSTGRES_URL, orgs)),
  }
}

const stored = async (url: string, orgs: string[]): Promise<Pick<Observed, 'verdicts' | 'waits'>> => {
  const client = createClient({ connectionString: url }, createHosts(url))
  await client.connect()
  try {
    const verdicts = await client.query<StoredVerdict>(
      `select org_id, batch_id, request_id, type, first_index, accepted, refused, waiting, gone,
         submitted_offset::float8 as submitted_offset
       from integrity.verdicts where org_id = any ($1)`,
      [orgs],
    )
    const waits = await client.query<StoredWait>(
      `select org_id, type, batch_id, request_index as index, state, accepted_version::float8 as accepted_version,
         state = 'refused' and changed_at < until as is_early
       from integrity.waiting where org_id = any ($1)`,
      [orgs],
    )
    return { verdicts: verdicts.rows, waits: waits.rows }
  } finally {
    await client.end()
  }
}
