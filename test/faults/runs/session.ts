import { createClient, createHosts } from '#platform/postgres/hosts.js'
import { eventually } from '../../support/eventually.js'
import { runWeir } from '../../support/run-weir.js'
import { membersOf, untilQuiet } from '../../support/system/groups.js'
import { createUploader, type UploadAnswer } from '../../support/system/uploader.js'
import { createTopicReader } from '../observe/topics.js'
import type { FaultStack } from '../stack/start-stack.js'
import type { Organisation } from '../workload/workload.js'

/** What a run needs of a system, whatever else can be done to it. */
export type TestedStack = Pick<FaultStack, 'addresses' | 'edgeUrls' | 'lanesHad' | 'untilReady' | 'heal'>
export type Session<Stack extends TestedStack = FaultStack> = ReturnType<typeof createSession<Stack>>

const quietWithin = 180_000

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
      const { POSTGRES_URL: url } = stack.addresses
      const client = createClient({ connectionString: url }, createHosts(url))
      await client.connect()
      try {
        await eventually(async () => {
          const { rows } = await client.query<{ state: string; count: string }>(
            `select state, count(*) from integrity.waiting where org_id = any ($1) and (state = 'waiting' or not is_told) group by state`,
            [orgs],
          )
          if (rows.length > 0) throw new Error(rows.map((row) => `${row.count} ${row.state} and not told`).join('; '))
        }, quietWithin)
      } finally {
        await client.end()
      }
    },
    /** What `weir verify` finds in all that was submitted since then; throws where something differs. */
    verify: async (since: Date): Promise<void> => {
      const { exitCode, stdout, stderr } = await runWeir(['verify', '--since', since.toISOString()], stack.addresses)
      if (exitCode !== 0) throw new Error(`weir verify ends with ${exitCode}: ${stdout}${stderr}`)
    },
    untilQuiet: (): Promise<void> => untilQuiet(brokers, quietWithin),
  }
}
