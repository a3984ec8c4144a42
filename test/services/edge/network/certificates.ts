import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import type { Certificate } from '../../../../services/edge/network/certificate.js'

/** A certificate signed by itself: for this machine, unless other names are given. */
export const makeCertificate = async (name: string, names = 'IP:127.0.0.1,DNS:localhost'): Promise<Certificate> => {
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const who = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${names}`]
  const { stdout } = await execa('openssl', [...request, ...who, '-keyout', '-'])
  const start = stdout.indexOf('-----BEGIN CERTIFICATE')
  return { key: stdout.slice(0, start), cert: stdout.slice(start) }
}

/** Files for TLS_CERT and TLS_KEY in a folder of their own, and how to write them anew. */
export const certificateFolder = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-tls-'))
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  const write = async ({ cert, key }: Certificate): Promise<void> => {
    await writeFile(files.cert, cert)
    await writeFile(files.key, key)
  }
  return { folder, files, write }
}
