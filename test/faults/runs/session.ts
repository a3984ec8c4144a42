import { execa } from 'execa'
import { mainOf } from '../../../deploy/embedded/launcher/services.js'
import { eventually } from '../../support/eventually.js'
import { createUploader, type UploadAnswer } from '../../support/uploader.js'
import { createGroups } from '../observe/groups.js'
import { createTopicReader } from '../observe/topics.js'
import type { FaultStack } from '../stack/start-stack.js'
import type { Organisation } from '../workload/workload.js'

export type Session = ReturnType<typeof createSession>

const quietWithin = 180_000

/** A stack, and the ways to look at it that do not go through Weir. */
export const createSession = (stack: FaultStack, say: (line: string) => void) => {
  const { KAFKA_BROKERS: brokers, SCHEMA_REGISTRY_URL: registryUrl } = stack.addresses
  const groups = createGroups(brokers)
  const keys = new Map<string, string>()

  const issueKey = async (org: string): Promise<Organisation> => {
    const args = [mainOf('operator'), 'keys', 'issue', '--org', org, '--json']
    const { stdout } = await execa(process.execPath, args, { env: stack.addresses })
    const apiKey = (JSON.parse(stdout) as { key: string }).key
    keys.set(org, apiKey)
    return { org, apiKey }
  }

  return {
    stack,
    say,
    groups,
    topics: createTopicReader({ brokers, registryUrl }),
    newOrganisations: (names: readonly string[]): Promise<Organisation[]> => Promise.all(names.map(issueKey)),
    lookUp: async (org: string, requestId: string): Promise<UploadAnswer> => {
      const [edgeUrl = ''] = stack.edgeUrls
      return (await createUploader(edgeUrl, keys.get(org) ?? '').get<UploadAnswer>(`/v1/requests/${requestId}`)).body
    },
    /** Resolves when every group has come to the ends, and these did not move meanwhile. */
    untilQuiet: async (): Promise<void> => {
      let before = ''
      await eventually(async () => {
        const { behind, ends } = await groups.behind()
        if (behind.length > 0) throw new Error(behind.join('; '))
        const isStill = ends === before
        before = ends
        if (!isStill) throw new Error('the topics still grow')
      }, quietWithin)
    },
  }
}
