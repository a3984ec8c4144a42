import { generateKeyPairSync, sign } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runWeir } from '../../../support/run-weir.js'

const newKey = () =>
  generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
const ours = newKey()
const report = {
  ...{
    erasure_id: '0f8e2a5c-1b7d-4a3e-9c51-7d2f6e4b8a90',
    organisation: 'acme',
    mode: 'erase',
    asked_by: 'weir command',
  },
  ...{ asked_at: '2026-01-31T12:00:00.000Z', checked_at: '2026-01-31T12:01:00.000Z', weir: '0.1.0', ids: 1 },
  found_before: [{ where: 'weir.accepted.customers', count: 2 }],
  left: [] as { where: string; count: number }[],
  read: { topics: [{ topic: 'weir.rejected', partition: 0, from: 0, until: 9 }], tables: 'all' },
}

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-proof-'))
})
afterAll(() => rm(folder, { recursive: true }))

let files = 0
const inFile = async (content: unknown): Promise<string> => {
  const file = join(folder, `${files++}`)
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}
const signed = (said: object, { privateKey, publicKey } = ours) => {
  const text = JSON.stringify(said)
  const signature = sign(null, Buffer.from(text), privateKey).toString('base64')
  return { report: text, signature, public_key: publicKey }
}
const check = async (content: unknown, ...more: string[]) =>
  runWeir(['erasures', 'check', await inFile(content), ...more], {})

describe('weir erasures check', () => {
  it('says that a proof is as it was signed, and what it says', async () => {
    const { stdout, stderr, exitCode } = await check(signed(report))
    expect(exitCode).toBe(0)
    expect(stdout).toContain('The signature is right.')
    expect(stdout).toContain('Nothing is left of the person of erasure 0f8e2a5c')
    expect(stdout).toContain('1 topic (1 partition)')
    // Anybody can make a key: that is said, rather than left to be believed.
    expect(stderr).toContain('Whether that is the key of your Weir: --key')
  })

  it('takes an answer of GET /v1/erasures/{erasure_id} as well, once it has a proof', async () => {
    expect((await check({ erasure_id: report.erasure_id, status: 'done', proof: signed(report) })).exitCode).toBe(0)
    expect((await check({ erasure_id: report.erasure_id, status: 'running', proof: null })).exitCode).toBe(2)
  })

  it('answers in JSON, too', async () => {
    const { stdout } = await check(signed(report), '--json')
    expect(JSON.parse(stdout)).toEqual({
      ...{ erasure_id: report.erasure_id, left: [], report },
      key_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  it('tells a key that is known from another one', async () => {
    const known = await inFile(ours.publicKey)
    expect((await check(signed(report), '--key', known)).exitCode).toBe(0)
    const forged = await check(signed(report, newKey()), '--key', known)
    expect(forged.exitCode).toBe(2)
    expect(forged.stderr).toContain('signed with another key')
  })

  it('does not believe a report that was changed by one sign', async () => {
    const { signature, public_key, report: text } = signed(report)
    const changed = await check({ report: text.replace('acme', 'acmf'), signature, public_key })
    expect(changed.exitCode).toBe(2)
    expect(changed.stderr).toContain('was changed after it was signed')
    expect(changed.stdout).toBe('')
  })

  it('ends with 1 where the report says that something is left', async () => {
    const left = [{ where: 'weir.rejected/0@4', count: 1 }]
    const { stdout, exitCode } = await check(signed({ ...report, left }))
    expect(exitCode).toBe(1)
    expect(stdout).toContain('1 place still has something of the person')
    expect(stdout).toContain('weir.rejected/0@4')
  })

  it.each([
    ['a text', 'hello'],
    ['other JSON', { report: 1 }],
    ['null', 'null'],
    ['a key that is none', { ...signed(report), public_key: 'no key' }],
  ])('ends with 2 for %s', async (_, content) => {
    expect((await check(content)).exitCode).toBe(2)
  })

  it('ends with 2 where there is no such file', async () => {
    const { stderr, exitCode } = await runWeir(['erasures', 'check', join(folder, 'nowhere.json')], {})
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('cannot be read')])
  })
})
