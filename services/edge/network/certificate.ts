import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { Log } from '#platform/health/log.js'

/** Where the certificate and its private key are. */
export type CertificateFiles = { cert: string; key: string }
/** The texts of both files. */
export type Certificate = { cert: string; key: string }

export const secureOptions = (certificate: Certificate): SecureContextOptions => ({
  ...certificate,
  minVersion: 'TLSv1.2',
})

/** Both files as they are now, whether or not they fit each other. */
export const readFiles = ({ cert, key }: CertificateFiles): Certificate => ({
  cert: read('TLS_CERT', cert),
  key: read('TLS_KEY', key),
})

const read = (variable: string, file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Error(`${variable} cannot be read: ${(error as Error).message}`)
  }
}

/** Throws where no server could use this certificate: not PEM, or a key that belongs to another certificate. */
export const checkCertificate = (certificate: Certificate): Certificate => {
  try {
    // OpenSSL alone would take an empty text for "no certificate", and a file is empty while it is being written.
    const fits = new X509Certificate(certificate.cert).checkPrivateKey(createPrivateKey(certificate.key))
    if (!fits) throw new Error('the key belongs to another certificate')
    createSecureContext(secureOptions(certificate))
  } catch (error) {
    throw new Error(`TLS_CERT and TLS_KEY cannot be used: ${(error as Error).message}`)
  }
  return certificate
}

/** As much of a TLS server as changing its certificate takes; connections that are open keep the old certificate. */
export type TlsServer = { setSecureContext: (options: SecureContextOptions) => void }

/** Gives the server a new certificate when the files' texts have changed: secrets are often links, which no watcher follows. */
export const createRenewal = (deps: {
  files: CertificateFiles
  current: Certificate
  server: TlsServer
  /** Called with each new certificate. */
  onUsed?: (certificate: Certificate) => void
  log: Log
}) => {
  const { files, server, log } = deps
  let seen = textOf(deps.current)

  /** Never throws: what is wrong with the files is logged once, and the certificate in use stays. */
  return (): void => {
    const found = tryToRead(files)
    const text = found instanceof Error ? found.message : textOf(found)
    if (text === seen) return
    seen = text
    try {
      if (found instanceof Error) throw found
      server.setSecureContext(secureOptions(checkCertificate(found)))
      deps.onUsed?.(found)
      log.info({ expires: expiryOf(found.cert).toISOString() }, 'certificate renewed')
    } catch (error) {
      log.error({ reason: (error as Error).message }, 'certificate not renewed; the one before it stays in use')
    }
  }
}

const tryToRead = (files: CertificateFiles): Certificate | Error => {
  try {
    return readFiles(files)
  } catch (error) {
    return error as Error
  }
}

const textOf = ({ cert, key }: Certificate): string => `${cert}\n${key}`

/** When a certificate (PEM) ends. */
export const expiryOf = (cert: string): Date => new Date(new X509Certificate(cert).validTo)
