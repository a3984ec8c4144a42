/** On every answer; a page that needs more than nothing sets its own policy over this one. */
const always = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
} as const

/** A browser must not believe HSTS over plain HTTP, so that is where it is not said. */
export const securityHeaders = (isHttps: boolean): Readonly<Record<string, string>> => (isHttps ? withHsts : always)

const withHsts = { ...always, 'strict-transport-security': 'max-age=31536000; includeSubDomains' } as const
