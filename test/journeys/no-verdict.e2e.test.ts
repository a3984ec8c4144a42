import { expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { eventually } from '../support/eventually.js'
import { sampleOf } from '../support/sample.js'
import { sized } from '../support/sized.js'
import { startEdge } from '../support/system/another-service.js'
import { kill } from '../support/system/processes.js'
import { newOrganisation } from '../support/system/system.js'
import { createUploader, type UploadAnswer } from '../support/system/uploader.js'

const backwardClock = new URL('../support/system/backward-clock.mjs', import.meta.url)

it.for([
  ['', {}],
  ...sized([], [[', also while its clock is set back', { NODE_OPTIONS: `--import=${backwardClock.href}` }] as const]),
] as const)('answers 500 when no verdict comes, and tells the outcome later%s', async ([, env]) => {
  // An edge of its own, so that nobody has to wait for the usual half a minute.
  const edge = await startEdge({ VERDICT_TIMEOUT_MS: '1000', ...env })
  try {
    const uploader = createUploader(edge.url, (await newOrganisation('no-verdict')).key)
    kill('integrity', 'SIGSTOP')
    const answer = await uploader.upload('shops', [sampleOf(shop)]).finally(() => kill('integrity', 'SIGCONT'))
    expect(answer.status).toBe(500)
    expect(answer.body.batches).toMatchObject([{ status: 500, data: { status: 'error' } }])
    expect(answer.body.batches[0]?.data.error).toMatch(/outcome unknown.*retrying is safe/i)

    await eventually(async () => {
      const later = await uploader.get<UploadAnswer>(`/v1/requests/${answer.body.request_id}`)
      expect(later.body.batches).toMatchObject([{ status: 200, data: { status: 'success' } }])
    })
  } finally {
    await edge.stop()
  }
})
