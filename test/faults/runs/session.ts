import { createClient, createHosts } from '#platform/postgres/hosts.js'
import { eventually } from '../../support/eventually.js'
import { runWeir } from '../../support/run-weir.js'
import { membersOf, untilQuiet } from '../../support/system/groups.js'
import { placesOf } from '../../support/system/places-of.js'
import { createUploader, type UploadAnswer } from '../../support/system/uploader.js'
import { formerOf } from '../checks/check-erasures.js'
import type { Observed } from '../observe/observed.js'
import { createTopicReader } from '../observe/topics.js'
import type { FaultStack } from '../stack/start-stack.js'
import type { Ledger } from '../workload/ledger.js'
import type { Organisation } from '../workload/workload.js'

/** What a run needs of a system, whatever else can be done to it. */
export type TestedStack = Pick<FaultStack, 'addresses' | 'edgeUrls' | 'lanesHad' | 'untilReady' | 'heal'>
export type Session<Stack extends TestedStack = FaultStack> = ReturnType<typeof createSession<Stack>>

const quietWithin = 180_000
const erasedWithin = 480_000

/** A stack, and the ways to look at it that do not go through Weir. */
export const createSession = <Stack extends TestedStack>(stack: Stack, say: (line: string) => void) => {
  const { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL: registryUrl } = stack.addresses
  const keys = new Map<string, string>()

  const issueKey = async (org: string): Promise<Organisation> => {
    const { stdout } = await runWeir(['keys', 'issue', '--org', org, '--json'], stack.addresses)
    const apiKey = (JSON.parse(stdout) as { key: string }).key
    keys.set(org, apiKey)
    return { org, apiKey }
  }

  const withPostgres = async <T>(
    work: (query: <Row>(text: string, values: unknown[]) => Promise<Row[]>) => Promise<T>,
  ): Promise<T> => {
    const { POSTGRES_URL: url } = stack.addresses
    const client = createClient({ connectionString: url }, createHosts(url))
    await client.connect()
    try {
      return await work(
        async <Row>(text: string, values: unknown[]) => (await client.query(text, values)).rows as Row[],
      )
    } finally {
      await client.end()
    }
  }

  return {
    stack,
    say,
    topics: createTopicReader({ brokers, registryUrl }),
    newOrganisations: (names: readonly string[]): Promise<Organisation[]> => Promise.all(names.map(issueKey)),
    lookUp: async (org: string, requestId: string): Promise<UploadAnswer> => {
      const [edgeUrl = ''] = stack.edgeUrls
      return (await createUploader(edgeUrl, keys.get(org) ?? '').get<UploadAnswer>(`/v1/requests/${requestId}`)).body
    },
    /** How many members a consumer group has. */
    members: async (group: string): Promise<number> => (await membersOf(brokers, [group]))[0]?.length ?? 0,
    /** Until nothing of these organisations waits, and everybody was told what came of it. */
    untilNothingWaits: async (orgs: readonly string[]): Promise<void> => {
      await withPostgres((query) =>
        eventually(async () => {
          const rows = await query<{ state: string; count: string }>(
            `select state, count(*) from integrity.waiting where org_id = any ($1) and (state = 'waiting' or not is_told) group by state`,
            [orgs],
          )
          if (rows.length > 0) throw new Error(rows.map((row) => `${row.count} ${row.state} and not told`).join('; '))
        }, quietWithin),
      )
    },
    /** Until the erasures of these organisations are done, and what came of these persons meanwhile is taken out too: not in an hour, but now. */
    untilErased: (orgs: readonly string[]): Promise<void> =>
      withPostgres(async (query) => {
        const untilDone = () =>
          eventually(async () => {
            const rows = await query<{ step: string; problem: string | null }>(
              `select step, problem from erasure.erasures e where org_id = any ($1) and (
                status <> 'done' or exists (
                  select from erasure.persons p where p.erasure_id = e.erasure_id and seen_at < now() - interval '2 hours'
                )
              )`,
              [orgs],
            )
            if (rows.length > 0) throw new Error(rows.map(({ step, problem }) => `${step}: ${problem}`).join('; '))
          }, erasedWithin)
        await untilDone()
        await query(`update erasure.persons set seen_at = seen_at - interval '1 day' where org_id = any ($1)`, [orgs])
        await untilDone()
      }),
    /** What became of these erasures: by what operators have, by a look at everything, and by what a subscriber has kept of the topics. */
    lookAtErasures: async (
      ledger: Ledger,
      kept: readonly (readonly [string, string])[],
    ): Promise<Observed['erasures']> => {
      const looked: Observed['erasures'] = []
      for (const erasure of ledger.erasures) {
        const { org, erasureId, names } = erasure
        const show = (words: string[]) => runWeir(['erasures', ...words, erasureId, '--json'], stack.addresses)
        const { status, report } = JSON.parse((await show(['show'])).stdout) as { status: string; report: string }
        const [edgeUrl = ''] = stack.edgeUrls
        const exports = await Promise.all(
          names.map((name) => createUploader(edgeUrl, keys.get(org) ?? '').get(`/v1/persons/${name}/export`)),
        )
        const keptOf = kept.filter(([, text]) => names.some((name) => text.includes(name)))
        if (erasure.afterwards === 'new') {
          // What names the person may have come since; what was there before is known by its own ids.
          const former = formerOf(ledger, erasure)
          const isFormer = (text: string): boolean => former.ids.some((id) => text.includes(id))
          const places = await placesOf(stack.addresses, org, former.batchIds)
          looked.push({
            erasureId,
            status,
            left: [
              ...(/"left":\[\]/.test(report) ? [] : [`the proof: ${report}`]),
              ...exports
                .filter(({ body }) => isFormer(JSON.stringify(body)))
                .map(() => 'the export has former records'),
              ...places.filter((place) => place.startsWith('weir.submitted.')),
              ...keptOf.filter(([key]) => isFormer(key)).map(([key]) => `subscriber: ${key}`),
            ],
          })
          continue
        }
        const proved = await show(['prove'])
        const statuses = exports.map((answer) => answer.status)
        looked.push({
          erasureId,
          status,
          left: [
            ...(proved.exitCode === 0 ? [] : [`prove ends with ${proved.exitCode}: ${proved.stdout}${proved.stderr}`]),
            ...statuses.filter((each) => each !== 404).map((each) => `the export is answered ${each}`),
            ...(await placesOf(stack.addresses, org, names)),
            ...keptOf.map(([key]) => `subscriber: ${key}`),
          ],
        })
      }
      return looked
    },
    /** What `weir verify` finds in all that was submitted since then; throws where something differs. */
    verify: async (since: Date): Promise<void> => {
      const { exitCode, stdout, stderr } = await runWeir(['verify', '--since', since.toISOString()], stack.addresses)
      if (exitCode !== 0) throw new Error(`weir verify ends with ${exitCode}: ${stdout}${stderr}`)
    },
    untilQuiet: (): Promise<void> => untilQuiet(brokers, quietWithin),
  }
}
