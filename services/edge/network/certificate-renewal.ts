import type { SecureContextOptions } from 'node:tls'
import type { Log } from '#platform/health/log.js'
import {
  type Certificate,
  type CertificateFiles,
  checkCertificate,
  expiryOf,
  readFiles,
  secureOptions,
} from './certificate.js'

/** As much of a TLS server as changing its certificate takes; connections that are open keep the old one. */
export type TlsServer = { setSecureContext: (options: SecureContextOptions) => void }

/**
 * Gives the server a new certificate when the files have changed. It is called every second and compares their texts:
 * secrets are often mounted as links to links, which no watcher follows, and two small reads cost nothing.
 */
export const createRenewal = (deps: { files: CertificateFiles; current: Certificate; server: TlsServer; log: Log }) => {
  const { files, server, log } = deps
  let seen = textOf(deps.current)

  /** Never throws: what is wrong is told once, and the certificate in use stays. */
  return (): void => {
    const found = tryToRead(files)
    const text = found instanceof Error ? found.message : textOf(found)
    if (text === seen) return
    seen = text
    try {
      if (found instanceof Error) throw found
      server.setSecureContext(secureOptions(checkCertificate(found)))
      log.info({ expires: expiryOf(found) }, 'certificate renewed')
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
