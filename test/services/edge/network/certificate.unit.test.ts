import { rm } from 'node:fs/promises'
import type { SecureContextOptions } from 'node:tls'
import { pino } from 'pino'
import { afterAll, expect, it } from 'vitest'
import { checkCertificate, createRenewal, readFiles } from '../../../../services/edge/network/certificate.js'
import { certificateFolder, makeCertificate } from './certificates.js'

const [first, second] = await Promise.all([makeCertificate('first'), makeCertificate('second')])
const { folder, files, write } = await certificateFolder()
afterAll(() => rm(folder, { recursive: true }))

it('takes what is new and fits, and tells once of what does not', async () => {
  const lines: { msg: string; reason?: string }[] = []
  const served: SecureContextOptions[] = []
  await write(first)
  const renew = createRenewal({
    files,
    current: readFiles(files),
    server: { setSecureContext: (options) => served.push(options) },
    log: pino({ level: 'info' }, { write: (line) => lines.push(JSON.parse(line)) }),
  })
  const after = async (change: () => Promise<void>) => {
    await change()
    renew()
    renew()
    return { changes: served.splice(0), told: lines.splice(0) }
  }

  expect(await after(async () => {})).toEqual({ changes: [], told: [] })
  expect(await after(() => write({ ...second, key: first.key }))).toMatchObject({
    changes: [],
    told: [
      {
        reason: expect.stringMatching(/cannot be used: .*another certificate/),
        msg: expect.stringContaining('stays in use'),
      },
    ],
  })
  expect(await after(() => write(second))).toMatchObject({
    changes: [{ ...second, minVersion: 'TLSv1.2' }],
    told: [{ msg: 'certificate renewed', expires: expect.any(String) }],
  })
  expect(await after(() => write({ ...first, cert: '' }))).toMatchObject({ changes: [], told: [{}] })
  expect(await after(() => rm(files.key))).toMatchObject({
    changes: [],
    told: [{ reason: expect.stringContaining('TLS_KEY cannot be read') }],
  })
  expect(await after(() => write(first))).toMatchObject({ changes: [first] })
})

it('refuses to begin with what no server can use, and never shows the key', () => {
  expect(() => checkCertificate({ ...first, key: second.key })).toThrow('TLS_CERT and TLS_KEY cannot be used')
  expect(() => checkCertificate({ ...first, key: '' })).toThrow('cannot be used')
  expect(() => checkCertificate({ cert: 'x', key: first.key })).toThrow('cannot be used')
  expect(() => readFiles({ ...files, cert: '/nowhere/cert.pem' })).toThrow(/^TLS_CERT cannot be read: ENOENT/)
})
