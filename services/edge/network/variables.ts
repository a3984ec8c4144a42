import type { ConfigSchema, ValuesOf } from '#platform/process/config.js'

/** What an operator says about the network that the edge stands in. */
export const networkVariables = {
  EDGE_HOST: { type: 'string', default: '127.0.0.1', description: 'address that the edge listens on' },
  TLS_CERT: {
    type: 'string',
    default: '',
    description: 'file with the certificate and its chain (PEM); a change is taken up without a restart',
  },
  TLS_KEY: { type: 'string', default: '', description: 'file with the private key of TLS_CERT (PEM)' },
  TRUST_PROXY: {
    type: 'string',
    default: '',
    description: 'addresses of the proxies whose forwarded headers count, like 10.0.0.5,10.1.0.0/16',
  },
  CORS_ORIGINS: {
    type: 'string',
    default: '',
    description: 'origins of web pages that may call the edge, like https://app.example.com',
  },
  HEADERS_TIMEOUT_MS: {
    type: 'integer',
    minimum: 100,
    default: 20_000,
    description: 'how long a TLS handshake, and then the headers of a request, may take to arrive',
  },
  REQUEST_TIMEOUT_MS: {
    type: 'integer',
    minimum: 100,
    default: 60_000,
    description: 'how long a whole request may take to arrive',
  },
} as const satisfies ConfigSchema['properties']

export type NetworkConfig = ValuesOf<typeof networkVariables>
