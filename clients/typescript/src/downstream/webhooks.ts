import { WeirError } from '../weir-error.js'

/** What a webhook brings. */
export type WebhookMessage<Data = unknown> = { type: string; timestamp: string; data: Data }

/** What came with it: `Headers`, or an object with the names in small letters, as Node and most frameworks give them. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export type WebhookOptions = {
  /** How many seconds its time may differ from this clock's; 300 unless said. An older one may be a repetition by somebody else. */
  toleranceSeconds?: number | undefined
  /** When it came, where that was not just now. */
  at?: Date | undefined
}

/**
 * Checks that a delivery was signed with one of these secrets (`whsec_…`), and resolves to what it says. `body` has to be what came,
 * byte by byte: JSON that was read and written again has another signature. Signed as Standard Webhooks are.
 */
export const verifyWebhook = async <Data = unknown>(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceSeconds = 300, at = new Date() }: WebhookOptions = {},
): Promise<WebhookMessage<Data>> => {
  const [id, sentAt, signatures] = ['id', 'timestamp', 'signature'].map((name) => headerOf(headers, `webhook-${name}`))
  if (!id || !sentAt || !signatures)
    throw refused('it has no webhook-id, webhook-timestamp or webhook-signature', 'answer it with 400')
  const seconds = /^\d{1,12}$/.test(sentAt) ? Number(sentAt) : Number.NaN
  if (!(Math.abs(at.getTime() / 1000 - seconds) <= toleranceSeconds))
    throw refused('its webhook-timestamp is too far from this clock', 'check that the clock here is right')
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  const signed = encoder.encode(`${id}.${sentAt}.${text}`)
  const given = signatures.split(' ').flatMap((each) => (each.startsWith('v1,') ? [bytesIn(each.slice(3))] : []))
  for (const secret of [secrets].flat()) {
    const key = await keyOf(secret)
    // verify() compares in constant time. All are compared: how long it takes tells nothing about which fits.
    const fits = await Promise.all(given.map((one) => one && crypto.subtle.verify('HMAC', key, one, signed)))
    if (fits.includes(true)) return JSON.parse(text) as WebhookMessage<Data>
  }
  throw refused('none of its signatures fits', 'check that the secret is that of this webhook, and the body as it came')
}

const encoder = new TextEncoder()

const refused = (what: string, remedy: string): WeirError =>
  new WeirError('key', `not a webhook of Weir: ${what}`, remedy)

const headerOf = (headers: WebhookHeaders, name: string): string | undefined => {
  const given = headers instanceof Headers ? headers.get(name) : (headers as Record<string, string | string[]>)[name]
  return Array.isArray(given) ? given[0] : (given ?? undefined)
}

const keyOf = async (secret: string): Promise<CryptoKey> => {
  const bytes = secret.startsWith('whsec_') ? bytesIn(secret.slice('whsec_'.length)) : undefined
  if (!bytes?.length)
    throw new WeirError('usage', 'the secret is none of a webhook', 'give it as it was shown: whsec_, then base64')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

const bytesIn = (base64: string): Uint8Array<ArrayBuffer> | undefined => {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
  } catch {
    // What is not base64 fits nothing.
    return undefined
  }
}
