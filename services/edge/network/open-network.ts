import { type Certificate, checkCertificate, readFiles } from './certificate.js'
import { type Network, readNetwork } from './network.js'
import type { NetworkConfig } from './variables.js'

/** The network, and the certificate to serve it with; throws where keys would be shown to others, or nothing be served. */
export const openNetwork = (config: NetworkConfig): { network: Network; certificate: Certificate | undefined } => {
  const network = readNetwork(config)
  return { network, certificate: network.certificate && checkCertificate(readFiles(network.certificate)) }
}

/** For `main.ts`: that, or a clear last word. */
export const openNetworkOrExit = (config: NetworkConfig): ReturnType<typeof openNetwork> => {
  try {
    return openNetwork(config)
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n`)
    process.exit(1)
  }
}
