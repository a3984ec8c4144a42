import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { shop } from '#schemas/records/shop.js'
import { freePorts } from '../../deploy/embedded/free-port.js'
import { eventually } from '../support/eventually.js'
import { kill } from '../support/processes.js'
import { sampleOf } from '../support/sample.js'
import { newOrganisation, system } from '../support/system.js'
import { createUploader, type UploadAnswer } from '../support/uploader.js'

// A second edge, so that nobody has to wait for the usual half a minute.
const [port] = await freePorts(1)
const edge = execa(process.execPath, ['dist/services/edge/main.js'], {
  env: { ...system.env, EDGE_PORT: String(port), VERDICT_TIMEOUT_MS: '1000' },
  stdout: 'ignore',
  reject: false,
})
const edgeUrl = `http://127.0.0.1:${port}`

beforeAll(() => eventually(async () => expect((await fetch(`${edgeUrl}/readyz`)).status).toBe(200)))
afterAll(async () => {
  edge.kill('SIGTERM')
  expect((await edge).exitCode).toBe(0)
})

it('answers 500 when no verdict comes, and tells the outcome later', async () => {
  const org = await newOrganisation('no-verdict')
  const uploader = createUploader(edgeUrl, org.key)
  kill('integrity', 'SIGSTOP')
  let answer: Awaited<ReturnType<typeof uploader.upload>>
  try {
    answer = await uploader.upload('shops', [sampleOf(shop)])
  } finally {
    kill('integrity', 'SIGCONT')
  }
  expect(answer.status).toBe(500)
  expect(answer.body.batches).toMatchObject([{ status: 500, data: { status: 'error' } }])
  expect(answer.body.batches[0]?.data.error).toMatch(/outcome unknown.*retrying is safe/i)

  await eventually(async () => {
    const later = await uploader.get<UploadAnswer>(`/v1/requests/${answer.body.request_id}`)
    expect(later.body.batches).toMatchObject([{ status: 200, data: { status: 'success' } }])
  })
})
