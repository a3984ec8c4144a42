import { createHmac } from 'node:crypto'

// How deliveries are signed: as Standard Webhooks 1.0 says, so that receivers check them with a library of their choice.

/** Signs with every secret that is valid: while one is rotated there are two. */
export const signedHeaders = (
  id: string,
  body: string,
  secrets: readonly string[],
  now: number,
): Record<string, string> => {
  const timestamp = String(Math.floor(now / 1000))
  return {
    'content-type': 'application/json',
    'user-agent': 'Weir webhooks',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => signatureOf(secret, `${id}.${timestamp}.${body}`)).join(' '),
  }
}

const signatureOf = (secret: string, text: string): string => {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`
}
